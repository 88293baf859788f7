// Pictures of collectives, and what textbooks get wrong. Definitions are the library's, in its catalogue.

// The algorithm whose schedule cuts the data into one box per rank, for the picture.
export const pictureOf = {
  broadcast: "scatter_allgather",
  scatter: "flat",
  gather: "flat",
  allgather: "ring",
  reduce: "mesh_two_shot",
  allreduce: "ring",
  reduce_scatter: "ring",
  alltoall: "pairwise",
  barrier: "dissemination",
};

export const slips = [
  [
    "A ring step never renames a chunk",
    "A printed trace for P = 4 sends chunk 3 and stores it as chunk 0. The k-th chunk stays the k-th chunk, or different things would be added.",
    { view: "proof", c: "reduce_scatter", a: "ring", p: 4, damage: "rename:0:0" },
    "See what the proof says of a receive that renames",
  ],
  [
    "Halving and doubling works for every p",
    "It is often said to need a power of two. An odd group can be divided into halves that differ by one.",
    { view: "play", c: "allreduce", a: "halving_doubling", p: 6, t: 0 },
    "Play it with 6 ranks",
  ],
  [
    "Why the ring is optimal",
    "The usual argument shows only that a rank must send (p−1)/p·n and receive as much. That some rank must send 2(p−1)/p·n in an allreduce needs the proof of Patarasuk and Yuan (2009). On a given network the bound comes from its cuts.",
    { view: "cost", c: "allreduce", a: "ring" },
    "Compare with the bound",
  ],
  [
    "A tree broadcast costs ⌈log p⌉(α+nβ)",
    "A recap table has log(p)α + nβ. But the whole message crosses in every round, not once.",
    { view: "cost", c: "broadcast", a: "binomial" },
    "Look at the critical path",
  ],
  [
    "The ring sends 2(p−1)·D, not 4·D·p",
    "Counting each byte where it is sent and again where it is received doubles the total. Here a byte is counted once.",
    { view: "cost", c: "allreduce", a: "ring", p: 5 },
    "Count it",
  ],
  [
    "Where a chunk ends",
    "If rank r starts by sending chunk r, then after p−1 steps it holds the sum of chunk r+1, not of chunk r. To end with chunk r, it must start with chunk r−1.",
    { view: "play", c: "reduce_scatter", a: "ring", p: 4 },
    "Follow a chunk",
  ],
  [
    "β is seconds per byte",
    "Some notes use β for bytes per second and write n/β. Here a message takes α + nβ, and the bandwidth is 1/β.",
    { view: "cost" },
    "See the model",
  ],
  [
    "A bidirectional ring has half of the rounds, not half of the bytes",
    "With one port its two directions take turns: it takes as long as the ring. With two it is twice as fast.",
    { view: "compare", c: "allreduce", a: "ring", b: "bidirectional_ring", p: 8 },
    "Compare them",
  ],
];
