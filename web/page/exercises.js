import { bidirectional, lectureTable, pipeline, six, trace, volume } from "./answers_schedules.js";
import { buckets, crossover, hierarchy, ringOrTree, stretched } from "./answers_times.js";

// The exercises of the lectures, with answers that the library computes. An answer is a list of elements and
// the figures in it.

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
    title: "Five allreduces",
    asks: "For p = 5, how many bytes does an allreduce send in all by mesh, single root, binary tree, naive ring and optimised ring, in how many steps, and how many at most from one rank in one step?",
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
  {
    id: "ex-10",
    title: "A pipeline",
    asks: "f(x) = x² + 5 is computed in two stages: rank 0 squares, rank 1 adds 5. How long do seven numbers take, how many messages are sent, and how long does a rank wait?",
    answer: pipeline,
  },
  {
    id: "ex-11",
    title: "Ring or tree",
    asks: "Compare ring and tree on 4 ranks for 1 KB, 1 MB and 16 MB, with α = 10 µs and 100 Gb/s. Where is the crossover?",
    answer: ringOrTree,
  },
];
