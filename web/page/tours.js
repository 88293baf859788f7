import { byId, h, put } from "./dom.js";
import { eightNodesOfEight } from "./lecture_states.js";
import { state, update } from "./state.js";

// Guided tours along the lectures. Each step is a text and a state of the page.

export const tours = [
  {
    id: "ring",
    title: "From the naive ring to the ring",
    says: "The same bytes, and yet p times as fast.",
    steps: [
      {
        text: "Four ranks have a vector each, and all need the sum. The naive ring sends the whole vector round: each rank adds its own and passes the sum on. Press play.",
        set: {
          view: "play",
          c: "allreduce",
          a: "ring_naive",
          p: 4,
          t: 0,
          layout: "auto",
          show: "symbols",
          follow: "",
          root: 0,
        },
      },
      {
        text: "At every moment one link works and three are idle. The second half of the rounds only distributes the result: once more round the ring, one rank after the other.",
        set: { view: "play", a: "ring_naive", p: 4, t: 3 },
      },
      {
        text: "Now cut the vector into four chunks. Each starts its way at another rank, so in every round all four links carry one chunk.",
        set: { view: "play", a: "ring", p: 4, t: 0 },
      },
      {
        text: "After three rounds each rank holds one finished chunk, framed green: that was a reduce_scatter. Follow one chunk to see that it makes the same journey as the whole vector did before.",
        set: { view: "play", a: "ring", p: 4, t: 3, follow: "0" },
      },
      {
        text: "Three more rounds pass the finished chunks on: an allgather. Allreduce = reduce_scatter, then allgather.",
        set: { view: "play", a: "ring", p: 4, t: 6, follow: "" },
      },
      {
        text: "The table counts both: the same number of rounds and the same total, but in one round a rank sends D instead of D/p. For a large vector the ring is p times as fast.",
        set: { view: "cost", a: "ring", p: 4, n: "64MiB" },
      },
      {
        text: "Side by side, by the clock: the naive ring has just begun when the ring is done.",
        set: { view: "compare", a: "ring_naive", b: "ring", p: 4, sync: "clock", n: "64MiB", t: 0 },
      },
    ],
  },
  {
    id: "tree",
    title: "Ring against tree",
    says: "Latency or bandwidth: where one overtakes the other.",
    steps: [
      {
        text: "A binomial tree needs only 2⌈log₂ p⌉ rounds: eight for 16 ranks. The sum goes up and the result comes down.",
        set: { view: "play", c: "allreduce", a: "binomial", p: 16, t: 0, layout: "auto", show: "sets", follow: "" },
      },
      {
        text: "The ring needs 30 rounds, but a rank sends only a sixteenth of the vector in each.",
        set: { view: "play", a: "ring", p: 16, t: 0, show: "sets" },
      },
      {
        text: "For a small message α decides, and the tree wins. Move the size to the right, or drag in the chart, until the ring does.",
        set: {
          view: "cost",
          a: "ring",
          b: "binomial",
          p: 64,
          n: "64KiB",
          alpha: "1us",
          bw: "100GB/s",
          gamma: "0",
          node: 1,
        },
      },
      {
        text: "With P = 64, α = 1 µs and 100 GB/s the chart and the line below it give the crossover. The rule of thumb αP/(β(log₂P − 1)) says 1.28 MB; counting gives the exact number.",
        set: { view: "cost", a: "ring", b: "binomial", p: 64, n: "1MiB" },
      },
      {
        text: "Halving and doubling is below both curves: the rounds of the tree and the bytes of the ring.",
        set: { view: "cost", a: "halving_doubling", p: 64, n: "1MiB" },
      },
      {
        text: "By the clock, at 64 KiB and 16 ranks: the tree is done first.",
        set: { view: "compare", a: "ring", b: "binomial", p: 16, n: "64KiB", sync: "clock", show: "sets", t: 0 },
      },
    ],
  },
  {
    id: "six",
    title: "Halving and doubling for p = 6",
    says: "No power of two is needed.",
    steps: [
      {
        text: "With 8 ranks each exchanges half of its vector with the rank across the cube, then a quarter, then an eighth; and back. Three rounds to add, three to share.",
        set: {
          view: "play",
          c: "allreduce",
          a: "halving_doubling",
          p: 8,
          t: 0,
          layout: "hypercube",
          show: "symbols",
          follow: "",
        },
      },
      {
        text: "With 6 ranks a group of 6 divides into 3 and 3, and a group of 3 into 2 and 1. In the odd group one rank serves two partners. Watch round 2.",
        set: { view: "play", a: "halving_doubling", p: 6, t: 2 },
      },
      {
        text: "Every box becomes green: each rank ends with all six contributions to all six chunks, after the same six rounds as with 8 ranks.",
        set: { view: "play", a: "halving_doubling", p: 6, t: 6 },
      },
      {
        text: "And it is proved, not only shown: each contribution exactly once, no race, no deadlock.",
        set: { view: "proof", a: "halving_doubling", p: 6, damage: "" },
      },
      {
        text: "What does it cost? One rank sends more than the bound in the odd round; Bruck's allreduce avoids even that. Both have 2⌈log₂ 6⌉ = 6 rounds against the ring's 10.",
        set: { view: "cost", a: "halving_doubling", p: 6, n: "1MiB" },
      },
    ],
  },
  {
    id: "hierarchy",
    title: "Hierarchy",
    says: "Only n/G bytes per rank cross the network.",
    steps: [
      {
        text: "Four nodes of four ranks. Links inside a node are fast, those between nodes are slow. First a ring inside each node: every rank adds up a quarter of the node's vectors.",
        set: {
          view: "play",
          c: "allreduce",
          a: "ring_ring",
          p: 16,
          shape: "4x4",
          t: 3,
          show: "sets",
          layout: "auto",
          follow: "",
        },
      },
      {
        text: "Then rings between the nodes, one for each place in the node: each rank sends only pieces of its own quarter. Last, rings inside the nodes again.",
        set: { view: "play", a: "ring_ring", p: 16, shape: "4x4", t: 6 },
      },
      {
        text: "Eight nodes of eight, 600 GB/s inside, 100 GB/s between, 1 GB: the table prices both kinds of links. The flat ring has 126 rounds and each of them waits for the slow links; the ring of rings has 28.",
        set: eightNodesOfEight,
      },
      {
        text: "On a network of servers with one NIC each, links into and out of the servers are the bottleneck. Compare the simulated time with the flat ring: change the algorithm on the left.",
        set: {
          view: "network",
          a: "ring_ring",
          p: 16,
          shape: "4x4",
          node: 1,
          n: "64MiB",
          net: "server:p=4,hosts=4,outside=25GB/s",
          order: "",
        },
      },
    ],
  },
  {
    id: "stretch",
    title: "Overlay and underlay: stretch",
    says: "The same ring, the same hosts, another order.",
    steps: [
      {
        text: "Four hosts A, B, C, D on a cycle of ten links. The ring of ranks 0, 1, 2, 3 stands on A, C, D, B: one message crosses 3.5 links on average.",
        set: { view: "network", c: "allreduce", a: "ring", p: 4, net: "lecture", order: "0,2,3,1", n: "1MiB" },
      },
      {
        text: "Swap the last two: A, C, B, D. The average stretch is 2.5, no link carries two messages at once, and the simulated time falls. You can drag the ranks yourself.",
        set: { view: "network", a: "ring", p: 4, net: "lecture", order: "0,2,1,3" },
      },
      {
        text: "A torus of 4 × 4 with ranks numbered row by row: the ring jumps at the end of each row, and two thirds of the links are idle.",
        set: { view: "network", a: "ring", p: 16, net: "torus:4x4,bandwidth=25GB/s", order: "" },
      },
      {
        text: "The best ring goes up and down like a snake: every hop is one link. With one port no schedule is faster; but most links are idle.",
        set: {
          view: "network",
          a: "ring",
          p: 16,
          net: "torus:4x4,bandwidth=25GB/s",
          order: "0,1,2,3,7,6,5,4,8,9,10,11,15,14,13,12",
        },
      },
      {
        text: "The torus algorithm uses both dimensions at once. Ports: any number, because a rank sends in two directions, and the percentage is of what all links can carry: the ring would reach a quarter of that.",
        set: {
          view: "network",
          a: "torus",
          p: 16,
          shape: "4x4",
          net: "torus:4x4,bandwidth=25GB/s",
          order: "",
          ports: "unlimited",
        },
      },
    ],
  },
  {
    id: "buckets",
    title: "Buckets",
    says: "Why 1000 small tensors are sent as 40 large ones.",
    steps: [
      {
        text: "One allreduce of 1 MB on 16 ranks by the ring: look at its critical path. The α-term is 30 messages, whatever the size.",
        set: {
          view: "cost",
          c: "allreduce",
          a: "ring",
          p: 16,
          n: "1MB",
          alpha: "10us",
          bw: "100GB/s",
          gamma: "0",
          node: 1,
        },
      },
      {
        text: "The same for 25 MB: the α-term is the same, so per byte it is 25 times smaller. 1000 calls of 1 MB pay it 1000 times, 40 buckets of 25 MB pay it 40 times.",
        set: { view: "cost", a: "ring", p: 16, n: "25MB", alpha: "10us", bw: "100GB/s" },
      },
      {
        text: "The exercise computes both for any number of ranks, and the size below which fusing pays.",
        set: { view: "learn", topic: "ex-4" },
      },
    ],
  },
  {
    id: "both",
    title: "The bidirectional ring",
    says: "Half of the rounds, but not half of the bytes.",
    steps: [
      {
        text: "Blocks go both ways round the ring: after ⌊p/2⌋ rounds instead of p−1 all sums are finished.",
        set: {
          view: "play",
          c: "allreduce",
          a: "bidirectional_ring",
          p: 8,
          t: 0,
          layout: "auto",
          show: "sets",
          follow: "",
        },
      },
      {
        text: "Side by side, round by round: the right one needs 8 rounds instead of 14, but sends two messages per rank in each.",
        set: {
          view: "compare",
          a: "ring",
          b: "bidirectional_ring",
          p: 8,
          sync: "round",
          t: 0,
          show: "sets",
          ports: "one",
        },
      },
      {
        text: "With one port, by the clock, nothing is gained: a rank still sends 2(p−1)/p·n bytes through its one port.",
        set: {
          view: "compare",
          a: "ring",
          b: "bidirectional_ring",
          p: 8,
          sync: "clock",
          ports: "one",
          n: "64MiB",
          t: 0,
        },
      },
      {
        text: "With a port for each neighbour it takes little more than half of the time.",
        set: {
          view: "compare",
          a: "ring",
          b: "bidirectional_ring",
          p: 8,
          sync: "clock",
          ports: "unlimited",
          n: "64MiB",
          t: 0,
        },
      },
    ],
  },
];

export function startTour(id) {
  goto(id, 0);
}

function goto(id, step) {
  const tour = tours.find((each) => each.id === id);
  update({ follow: "", damage: "", ...tour.steps[step].set, tour: id, step }, { replace: false });
}

export function drawTour() {
  const place = byId("tour");
  const tour = tours.find((each) => each.id === state.tour);
  place.hidden = !tour;
  if (!tour) return;
  const step = Math.min(state.step, tour.steps.length - 1);
  const last = step === tour.steps.length - 1;
  put(
    place,
    h("h3", {}, `Tour: ${tour.title}`),
    h("p", { id: "tourtext" }, tour.steps[step].text),
    h(
      "div",
      { class: "foot" },
      h(
        "button",
        { type: "button", id: "tour-back", disabled: step === 0, onclick: () => goto(tour.id, step - 1) },
        "Back",
      ),
      last
        ? null
        : h(
            "button",
            { type: "button", id: "tour-next", class: "main", onclick: () => goto(tour.id, step + 1) },
            "Next",
          ),
      h(
        "button",
        { type: "button", id: "tour-end", onclick: () => update({ tour: "", step: 0 }) },
        last ? "Done" : "Leave the tour",
      ),
      h("span", { class: "dots" }, `${step + 1} of ${tour.steps.length}`),
    ),
  );
}
