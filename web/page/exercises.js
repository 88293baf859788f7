import { ask, askLater } from "./engine.js";
import { h, put } from "./dom.js";
import { Film, parseValues } from "./film.js";
import { link } from "./state.js";
import { commas, decimalBytes, digits, secondsText, shareText } from "./units.js";

// The exercises of the lectures, with answers that the library computes. An answer is a list of elements and
// the figures in it.

const table = (head, rows, attributes = {}) =>
  h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "figures", ...attributes },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          head.map((each) => h("th", { scope: "col" }, each)),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((row) =>
          h(
            "tr",
            {},
            row.map((each) => h("td", {}, each)),
          ),
        ),
      ),
    ),
  );

const valuesOfOne = "1,2,3,4; 5,6,7,8; 9,10,11,12; 13,14,15,16";

function trace() {
  const film = new Film(ask("play", { algorithm: "reduce_scatter/ring", ranks: 4 }), parseValues(valuesOfOne));
  const rows = [];
  for (let round = 0; round <= film.rounds; ++round) {
    const held = film.held(round);
    rows.push([
      round === 0 ? "start" : `after round ${round}`,
      ...[0, 1, 2, 3].map(
        (rank) => `[${[0, 1, 2, 3].map((chunk) => film.valueText(held[rank * 4 + chunk])).join(", ")}]`,
      ),
    ]);
  }
  const result = [0, 1, 2, 3].map((rank) => film.value(film.held(film.rounds)[rank * 4 + rank])[0]);
  return {
    figures: { holds: result },
    parts: [
      table(["", "P0", "P1", "P2", "P3"], rows),
      h(
        "p",
        {},
        `After the phase each process holds one finished chunk: ${result.map((each, rank) => `P${rank} has chunk ${rank} = ${each}`).join(", ")}. The other entries are partial sums that nobody needs any more.`,
      ),
      h(
        "p",
        {},
        link("Play it with these numbers", {
          view: "play",
          c: "reduce_scatter",
          a: "ring",
          p: 4,
          show: "values",
          values: valuesOfOne,
          t: 0,
        }),
      ),
    ],
  };
}

async function crossover() {
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

async function hierarchy() {
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
      table(
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
        link("See the table", {
          view: "cost",
          c: "allreduce",
          a: "ring_ring",
          b: "ring",
          p: 64,
          shape: "8x8",
          n: "1GB",
          alpha: "0",
          bw: "100GB/s",
          gamma: "0",
          node: 8,
          nalpha: "0",
          nbw: "600GB/s",
        }),
      ),
    ],
  };
}

async function buckets(ranks = 16) {
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
      table(
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

async function six() {
  const where = { algorithm: "allreduce/halving_doubling", ranks: 6 };
  const proof = ask("proof", where);
  const costs = ask("cost", { collective: "allreduce", ranks: 6, size: "6MB", alpha: "1us", bandwidth: "100GB/s" });
  const row = (name) => costs.algorithms.find((each) => each.algorithm === `allreduce/${name}`);
  const rows = ["halving_doubling", "bruck", "ring", "binomial"].map((name) => [
    name.replaceAll("_", " "),
    row(name).rounds,
    shareText(row(name).most_sent / 1e6, 6),
    shareText(row(name).most_in_a_round / 1e6, 6),
    secondsText(row(name).one_port.seconds),
  ]);
  return {
    figures: { proved: proof.ok, rounds: row("halving_doubling").rounds },
    parts: [
      h(
        "p",
        {},
        "Two ways. The common one folds the two extra ranks in first: they send their vectors to partners, wait, and get the result at the end; two more rounds with whole vectors. The better one divides any group into halves that differ by at most one. In an odd group the first rank of the smaller half also serves the rank that has no partner.",
      ),
      h(
        "p",
        {},
        `For P = 6 the groups are 6 → 3+3 → 2+1. The schedule has ${row("halving_doubling").rounds} rounds, and the proof says: ${proof.ok ? "every contribution exactly once, on every rank" : "wrong"}.`,
      ),
      table(["P = 6", "rounds", "a rank sends at most", "in one round", "6 MB, 1 µs, 100 GB/s"], rows),
      h(
        "p",
        {},
        link("Take the tour", {
          view: "play",
          c: "allreduce",
          a: "halving_doubling",
          p: 6,
          t: 0,
          tour: "six",
          step: 1,
        }),
      ),
    ],
  };
}

function bidirectional() {
  const rows = [];
  let fine = true;
  for (const ranks of [2, 3, 4, 5, 6, 7, 8, 12, 16, 17]) {
    const { algorithms, bounds } = ask("cost", {
      collective: "allreduce",
      ranks,
      size: String(ranks * 5040),
      alpha: "1us",
      bandwidth: "100GB/s",
    });
    const [ring, both] = ["ring", "bidirectional_ring"].map((name) =>
      algorithms.find((each) => each.algorithm === `allreduce/${name}`),
    );
    fine &&= both.most_sent === bounds.most_sent && both.rounds === 2 * Math.floor(ranks / 2);
    rows.push([
      ranks,
      ring.rounds,
      both.rounds,
      `${(ring.most_sent / bounds.most_sent).toFixed(2)}×`,
      `${(both.most_sent / bounds.most_sent).toFixed(2)}×`,
    ]);
  }
  return {
    figures: { halves: fine },
    parts: [
      h(
        "p",
        {},
        "In a reduce_scatter rank c needs the sum of chunk c. In a ring it arrives from one side after p−1 hops. Let contributions come from both sides instead: ⌈(p−1)/2⌉ ranks send from one side, ⌊(p−1)/2⌋ from the other, so after ⌊p/2⌋ rounds both partial sums have arrived and are added to the own part. The allgather is the same backwards.",
      ),
      h(
        "p",
        {},
        "The bytes do not change: every rank but c sends a partial sum of chunk c exactly once, so each rank sends p−1 of the p chunks per phase, 2(p−1)/p·n in all: the bound. Counted:",
      ),
      table(["p", "rounds, ring", "rounds, both ways", "bytes of the bound, ring", "both ways"], rows),
      h(
        "p",
        {},
        `${fine ? "So the rounds are halved (rounded down) and the bytes stay optimal" : "The counts disagree"}. It is faster only if both neighbours can be served at once.`,
      ),
      h(
        "p",
        {},
        link("Take the tour", {
          view: "play",
          c: "allreduce",
          a: "bidirectional_ring",
          p: 8,
          t: 0,
          tour: "both",
          step: 0,
        }),
      ),
    ],
  };
}

function lectureTable(ranks = 5) {
  const { algorithms } = ask("cost", {
    collective: "allreduce",
    ranks,
    size: String(ranks * 5040),
    alpha: "1us",
    bandwidth: "100GB/s",
  });
  const names = [
    ["mesh", "mesh"],
    ["root", "single root"],
    ["binary_tree", "binary tree"],
    ["ring_naive", "ring, naive"],
    ["ring", "ring, optimised"],
  ];
  const share = (bytes) => shareText(Math.round(bytes / 5040), ranks);
  const rows = names.map(([name, words]) => {
    const row = algorithms.find((each) => each.algorithm === `allreduce/${name}`);
    return [words, share(row.bytes), row.rounds, share(row.most_in_a_round)];
  });
  return {
    figures: { rows },
    parts: [
      table([`p = ${ranks}`, "total bytes sent", "steps", "most that one rank sends in one step"], rows),
      h(
        "p",
        {},
        "In general: p(p−1)D, 2(p−1)D, 2(p−1)D, 2(p−1)D, 2(p−1)D; 1, 2, 2·height, 2(p−1), 2(p−1) steps; (p−1)D, (p−1)D, 2D down and D up, D, D/p.",
      ),
      h("p", {}, link("The whole table", { view: "cost", c: "allreduce", a: "ring", p: ranks })),
    ],
  };
}

async function stretched() {
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

function volume() {
  const unit = 4096;
  const busiest = (name) => {
    const { ranks } = ask("detail", { algorithm: `allreduce/${name}`, ranks: 4, size: String(4 * unit) });
    return Math.max(...ranks.map(([, sent, received]) => (sent + received) / (4 * unit)));
  };
  const [root, ring] = [busiest("root"), busiest("ring")];
  return {
    figures: { root, ring },
    parts: [
      h(
        "p",
        {},
        `With 4 ranks and a single root, the root receives 3n and sends 3n: ${root}n of raw volume through one rank. In the ring every rank sends 1.5n and receives 1.5n: ${ring}n. The total over all ranks is the same, 6n sent; what is saved is that it no longer goes through one rank.`,
      ),
      h("p", {}, link("Compare the two", { view: "compare", c: "allreduce", a: "root", b: "ring", p: 4, t: 0 })),
    ],
  };
}

export const exercises = [
  {
    id: "ex-1",
    title: "Ring correctness",
    asks: "Trace through ring ReduceScatter with P = 4 and data P0 = [1,2,3,4], P1 = [5,6,7,8], P2 = [9,10,11,12], P3 = [13,14,15,16]. What does each process hold after the phase?",
    answer: trace,
  },
  {
    id: "ex-2",
    title: "Crossover",
    asks: "For P = 256, α = 5 µs and 200 GB/s, calculate the crossover point between ring and tree.",
    answer: crossover,
  },
  {
    id: "ex-3",
    title: "Hierarchy",
    asks: "8 nodes with 8 GPUs each, 600 GB/s inside a node, 100 GB/s between nodes. Compare the time of a flat ring and of a 2-D ring for a 1 GB allreduce.",
    answer: hierarchy,
  },
  {
    id: "ex-4",
    title: "Bucket sizing",
    asks: "1000 gradient tensors of 1 MB, α = 10 µs, 100 GB/s. Compare 1000 allreduce calls with buckets of 25 MB.",
    answer: buckets,
  },
  {
    id: "ex-5",
    title: "Not a power of two",
    asks: "Rabenseifner's algorithm is said to require P = 2ᵏ. Describe how to handle P = 6.",
    answer: six,
  },
  {
    id: "ex-6",
    title: "Bidirectional ring",
    asks: "Prove that a bidirectional ring halves the number of steps while it stays bandwidth-optimal.",
    answer: bidirectional,
  },
  {
    id: "ex-7",
    title: "The lectures' table",
    asks: "For p = 5, how many bytes does each allreduce of the lecture send in all, in how many steps, and how many at most from one rank in one step?",
    answer: lectureTable,
  },
  {
    id: "ex-8",
    title: "Stretch",
    asks: "Four hosts on a cycle of ten links. What is the average stretch of the ring A-C-D-B, and of A-C-B-D?",
    answer: stretched,
  },
  {
    id: "ex-9",
    title: "6n against 3n",
    asks: "“A naive allreduce might need 6n of raw volume, an optimised one 3n.” Where do 6 and 3 come from?",
    answer: volume,
  },
];
