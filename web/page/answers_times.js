import { answerTable } from "./answer_table.js";
import { askLater } from "./engine.js";
import { h, put } from "./dom.js";
import { eightNodesOfEight } from "./lecture_states.js";
import { link } from "./state.js";
import { commas, decimalBytes, digits, secondsText } from "./units.js";

// Answers to the exercises about times and networks.

export async function crossover() {
  const machine = { ranks: 256, alpha: "5us", bandwidth: "200GB/s", gamma: "0" };
  const found = await askLater(
    "crossing",
    { ...machine, first: "allreduce/ring", second: "allreduce/binomial" },
    "ex-2",
  );
  const [p, alpha, rate] = [256, 5e-6, 2e11];
  const exact = (alpha * rate * (p - 1 - Math.log2(p))) / (Math.log2(p) - (p - 1) / p);
  const rough = (alpha * rate * p) / (Math.log2(p) - 1);
  return {
    figures: { size: found.size, formula: exact },
    parts: [
      h(
        "p",
        {},
        `Setting the two times equal gives n* = α(P−1−log₂P) / (β(log₂P − (P−1)/P)) = ${commas(exact)} bytes, ${decimalBytes(exact)}. The library, which compares the two algorithms, finds ${commas(found.size)} bytes: below, ${found.below}; from there on, ${found.above}.`,
      ),
      h("p", {}, `The rule of thumb αP/(β(log₂P−1)) would say ${decimalBytes(rough)}.`),
      h(
        "p",
        {},
        link("See the curves", {
          view: "cost",
          c: "allreduce",
          a: "ring",
          b: "binomial",
          p: 256,
          alpha: "5us",
          bw: "200GB/s",
          gamma: "0",
          node: 1,
          n: "32MiB",
        }),
      ),
    ],
  };
}

export async function hierarchy() {
  const machine = {
    collective: "allreduce",
    ranks: 64,
    shape: "8x8",
    size: "1GB",
    alpha: "0",
    bandwidth: "100GB/s",
    gamma: "0",
    node: 8,
    node_alpha: "0",
    node_bandwidth: "600GB/s",
  };
  const one = (name) => askLater("cost", { ...machine, algorithm: name }, `ex-3-${name}`);
  const [flat, rings] = await Promise.all([one("allreduce/ring"), one("allreduce/ring_ring")]);
  const times = [flat, rings].map((each) => each.algorithms[0].one_port.seconds);
  return {
    figures: { flat: times[0], rings: times[1] },
    parts: [
      answerTable(
        ["", "time", "rounds", "a rank sends", "of it out of its node"],
        [
          [
            "flat ring",
            secondsText(times[0]),
            flat.algorithms[0].rounds,
            decimalBytes(flat.algorithms[0].most_sent),
            "all, for the last rank of a node",
          ],
          [
            "2-D ring",
            secondsText(times[1]),
            rings.algorithms[0].rounds,
            decimalBytes(rings.algorithms[0].most_sent),
            "2(N−1)/N · n/G = 0.22 GB",
          ],
        ],
      ),
      h(
        "p",
        {},
        `In every round of the flat ring eight of its 64 hops cross between nodes, and all others wait for them: 2·63/64 · 1 GB at 100 GB/s. In the 2-D ring each rank sends 2·7/8 · 1 GB at 600 GB/s inside, and only an eighth of that between nodes: ${digits(times[0] / times[1], 3)} times as fast. Latency is left out, as in the question; with it the difference grows, 126 rounds against 28.`,
      ),
      h(
        "p",
        {},
        link("See the table", { ...eightNodesOfEight, b: "ring" }),
      ),
    ],
  };
}

export async function buckets(ranks = 16) {
  const machine = {
    collective: "allreduce",
    ranks,
    alpha: "10us",
    bandwidth: "100GB/s",
    gamma: "0",
    algorithm: "allreduce/ring",
  };
  const at = async (size) =>
    (await askLater("cost", { ...machine, size }, `ex-4-${size}-${ranks}`)).algorithms[0].one_port.seconds;
  const [small, large] = await Promise.all([at("1MB"), at("25MB")]);
  // From this size on the α-term is less than a tenth of the time.
  const needed = ((2 * (ranks - 1) * 10e-6) / ((2 * (ranks - 1)) / ranks / 1e11)) * 9;
  return {
    figures: { ranks, single: 1000 * small, bucketed: 40 * large },
    parts: [
      h(
        "p",
        {},
        h(
          "label",
          {},
          "Ranks (the question names none): ",
          h("input", {
            type: "number",
            id: "ex-4-p",
            min: 2,
            max: 64,
            value: ranks,
            onchange: async (event) => {
              const again = await buckets(Math.min(64, Math.max(2, Number(event.target.value) || 16)));
              const place = event.target.closest(".answer");
              place.dataset.result = JSON.stringify(again.figures);
              put(place, h("h4", {}, "Answer"), ...again.parts);
            },
          }),
        ),
      ),
      answerTable(
        ["", "calls", "time of one", "time of all"],
        [
          ["1 MB each", 1000, secondsText(small), secondsText(1000 * small)],
          ["buckets of 25 MB", 40, secondsText(large), secondsText(40 * large)],
        ],
      ),
      h(
        "p",
        {},
        `The bytes are the same; the latency 2(p−1)α = ${secondsText(2 * (ranks - 1) * 10e-6)} is paid 40 times instead of 1000 times: ${digits((1000 * small) / (40 * large), 3)} times as fast. On ${ranks} ranks a bucket of ${decimalBytes(needed)} keeps the latency below a tenth of the time.`,
      ),
      h(
        "p",
        {},
        link("See one call", {
          view: "cost",
          c: "allreduce",
          a: "ring",
          p: ranks,
          n: "1MB",
          alpha: "10us",
          bw: "100GB/s",
          gamma: "0",
          node: 1,
        }),
      ),
    ],
  };
}

export async function stretched() {
  const network = document.getElementById("lecture").textContent;
  const at = async (places) =>
    (await askLater("load", { network, algorithm: "allreduce/ring", ranks: 4, size: "1MiB", places }, `ex-8-${places}`))
      .stretch.average;
  const [one, other] = await Promise.all([at([0, 2, 3, 1]), at([0, 2, 1, 3])]);
  return {
    figures: { ACDB: one, ACBD: other },
    parts: [
      h(
        "p",
        {},
        `The ring A-C-D-B crosses ${one} links per hop on average, A-C-B-D ${other}: the same hosts and links, only another order.`,
      ),
      h(
        "p",
        {},
        link("A-C-D-B", { view: "network", c: "allreduce", a: "ring", p: 4, net: "lecture", order: "0,2,3,1" }),
        " · ",
        link("A-C-B-D", { view: "network", c: "allreduce", a: "ring", p: 4, net: "lecture", order: "0,2,1,3" }),
      ),
    ],
  };
}

export async function ringOrTree() {
  const machine = { ranks: 4, alpha: "10us", bandwidth: "12.5GB/s", gamma: "0" };
  const sizes = ["1kB", "1MB", "16MB"];
  const at = async (size) => {
    const { algorithms } = await askLater("cost", { ...machine, collective: "allreduce", size }, `ex-11-${size}`);
    return ["ring", "binomial"].map(
      (name) => algorithms.find((each) => each.algorithm === `allreduce/${name}`).one_port.seconds,
    );
  };
  const [found, ...times] = await Promise.all([
    askLater("crossing", { ...machine, first: "allreduce/ring", second: "allreduce/binomial" }, "ex-11"),
    ...sizes.map(at),
  ]);
  return {
    figures: { crossover: found.size, ring: times.map(([ring]) => ring), tree: times.map(([, tree]) => tree) },
    parts: [
      answerTable(
        ["p = 4, 10 µs, 12.5 GB/s", "ring", "tree", "faster"],
        times.map(([ring, tree], i) => [
          sizes[i].replace(/(?=[kM])/, " "),
          secondsText(ring),
          secondsText(tree),
          `${ring < tree ? "ring" : "tree"}, ${digits(Math.max(ring, tree) / Math.min(ring, tree), 3)} times`,
        ]),
      ),
      h(
        "p",
        {},
        `The ring takes 2(p−1)α + 2(p−1)/p·nβ = 6α + 1.5nβ, the tree 2⌈log₂p⌉(α + nβ) = 4α + 4nβ. They are equal at n = 0.8·α/β; counted, at ${commas(found.size)} bytes: below, ${found.below}; from there on, ${found.above}.`,
      ),
      h(
        "p",
        {},
        "These are times of the model. Those of your machine: ",
        h("code", {}, "tutti crossover allreduce ring tree -p 4 --measure"),
        ". ",
        link("See the curves", {
          view: "cost",
          c: "allreduce",
          a: "ring",
          b: "binomial",
          p: 4,
          alpha: "10us",
          bw: "12.5GB/s",
          gamma: "0",
          node: 1,
          n: "128KiB",
        }),
      ),
    ],
  };
}
