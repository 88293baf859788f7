// States of the page that both a tour and an exercise show.

/// Eight nodes of eight ranks, 600 GB/s inside and 100 GB/s between them; latency is left out.
export const eightNodesOfEight = {
  view: "cost",
  c: "allreduce",
  a: "ring_ring",
  p: 64,
  shape: "8x8",
  n: "1GB",
  alpha: "0",
  bw: "100GB/s",
  gamma: "0",
  node: 8,
  nalpha: "0",
  nbw: "600GB/s",
};
