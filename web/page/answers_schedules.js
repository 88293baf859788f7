import { answerTable } from "./answer_table.js";
import { ask } from "./engine.js";
import { h, put } from "./dom.js";
import { Film, parseValues } from "./film.js";
import { link } from "./state.js";
import { percentText, plural, secondsText, shareText } from "./units.js";

// Answers to the exercises about what schedules do: found by running and counting them.

const valuesOfOne = "1,2,3,4; 5,6,7,8; 9,10,11,12; 13,14,15,16";

export function trace() {
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
      answerTable(["", "P0", "P1", "P2", "P3"], rows),
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

export async function six() {
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
      answerTable(["P = 6", "rounds", "a rank sends at most", "in one round", "6 MB, 1 µs, 100 GB/s"], rows),
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

export function bidirectional() {
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
      answerTable(["p", "rounds, ring", "rounds, both ways", "bytes of the bound, ring", "both ways"], rows),
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

export function lectureTable(ranks = 5) {
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
      answerTable([`p = ${ranks}`, "total bytes sent", "steps", "most that one rank sends in one step"], rows),
      h(
        "p",
        {},
        "In general: p(p−1)D, 2(p−1)D, 2(p−1)D, 2(p−1)D, 2(p−1)D; 1, 2, 2·height, 2(p−1), 2(p−1) steps; (p−1)D, (p−1)D, 2D down and D up, D, D/p.",
      ),
      h("p", {}, link("The whole table", { view: "cost", c: "allreduce", a: "ring", p: ranks })),
    ],
  };
}

export function volume() {
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

// The numbers can be changed, and the table follows.
export function pipeline(values = "0, 1, 2, 3, 4, 5, 6") {
  const run = ask("pipeline", { values });
  const square = (index) => run.numbers[index] ** 2;
  const rows = run.timeline.map(([squared, added], unit) => [
    unit + 1,
    squared === null ? "waits" : `${run.numbers[squared]}² = ${square(squared)}`,
    squared === null ? "" : `0 → 1: ${square(squared)}`,
    added === null ? "waits" : `${square(added)} + 5 = ${run.results[added]}`,
  ]);
  const count = run.numbers.length;
  const again = (event) => {
    const place = event.target.closest(".answer");
    event.target.setCustomValidity("");
    try {
      const { figures, parts } = pipeline(event.target.value);
      place.dataset.result = JSON.stringify(figures);
      put(place, h("h4", {}, "Answer"), ...parts);
    } catch (refused) {
      event.target.setCustomValidity(refused.message);
      event.target.reportValidity();
    }
  };
  const { units, one_by_one, messages, idle, results } = run;
  return {
    figures: { units, one_by_one, messages, idle, results },
    parts: [
      h(
        "p",
        {},
        h("label", {}, "Numbers: ", h("input", { type: "text", id: "ex-10-values", value: values, onchange: again })),
      ),
      answerTable(["unit of time", "rank 0: x²", "message", "rank 1: + 5"], rows),
      h(
        "p",
        {},
        `In a pipeline of p = 2 stages m = ${count} numbers take m + p − 1 = ${units} units; one by one, m·p = ${one_by_one}. Rank 0 sends ${plural(messages, "message")}. While the pipeline fills and empties, each rank waits p − 1 units: (p−1)/(m+p−1) = ${percentText(idle / (2 * units))} of the time, the bubble. More numbers make it smaller.`,
      ),
      h(
        "p",
        {},
        "The same idea moves data: a broadcast along a chain sends the vector in segments, so that every rank forwards one while it receives the next. ",
        link("Play a chain", { view: "play", c: "broadcast", a: "chain", p: 4, t: 0 }),
      ),
    ],
  };
}
