// Where the ranks of a film stand: as its algorithm thinks of them.

export const layoutNames = [
  ["auto", "as the algorithm thinks"],
  ["columns", "side by side"],
  ["ring", "ring"],
  ["tree", "tree"],
  ["double", "two trees"],
  ["hypercube", "hypercube"],
  ["grid", "grid"],
];

const natural = {
  flat: "tree",
  root: "tree",
  binomial: "tree",
  binary_tree: "tree",
  gather_broadcast: "tree",
  reduce_then_scatter: "tree",
  double_tree: "double",
  recursive_doubling: "hypercube",
  recursive_halving: "hypercube",
  halving_doubling: "hypercube",
  ring_ring: "grid",
  ring_tree: "grid",
  torus: "grid",
};

export function naturalLayout(film) {
  return natural[film.algorithm.split("/")[1]] ?? "ring";
}

// The boxes of one rank: a column while texts fit, else a square of small boxes.
function boxesOf(film, chunks, kind, wide) {
  const count = chunks.length;
  const at = (chunk) => (count === 1 ? 0 : chunk);
  const head = film.ranks <= 32 ? 18 : 11;
  if (film.pairs) {
    const across = film.ranks;
    const side = film.ranks <= 4 ? 30 : film.ranks <= 8 ? 15 : film.ranks <= 16 ? 7 : 3;
    const height = film.ranks <= 4 ? 20 : side;
    return {
      head,
      width: across * side,
      height: head + across * height,
      cell: [side, height],
      place: (chunk) => [(chunk % across) * side, head + Math.floor(chunk / across) * height],
    };
  }
  if (kind === "columns") {
    const width = film.ranks <= 8 ? wide : film.ranks <= 16 ? 58 : film.ranks <= 32 ? 26 : 13;
    const height = count <= 8 ? 24 : count <= 16 ? 18 : count <= 32 ? 11 : count <= 64 ? 6.5 : 4;
    return {
      head,
      width,
      height: head + count * height,
      cell: [width, height],
      place: (chunk) => [0, head + at(chunk) * height],
    };
  }
  if (count <= 2 || (count <= 8 && film.ranks <= 9)) {
    const width = film.ranks <= 8 ? wide : film.ranks <= 16 ? 64 : film.ranks <= 32 ? 40 : 24;
    const height = film.ranks <= 16 ? 21 : film.ranks <= 32 ? 14 : 11;
    return {
      head,
      width,
      height: head + count * height,
      cell: [width, height],
      place: (chunk) => [0, head + at(chunk) * height],
    };
  }
  const across = Math.ceil(Math.sqrt(count));
  const down = Math.ceil(count / across);
  const side = count <= 16 ? 24 : count <= 25 ? 18 : count <= 36 ? 13 : count <= 64 ? 8 : count <= 128 ? 5.5 : 4;
  const height = count <= 16 ? 17 : side;
  return {
    head,
    width: across * side,
    height: head + down * height,
    cell: [side, height],
    place: (chunk) => [(at(chunk) % across) * side, head + Math.floor(at(chunk) / across) * height],
  };
}

// The parent of each rank in the tree along which messages of `chunk` go; -1 for the root.
export function treeOf(film, chunk = null) {
  const parents = new Array(film.ranks).fill(-1);
  const touches = (message) => chunk === null || film.chunksOf(message).includes(chunk);
  const spreads = film.messages.some((round) => round.some((each) => !each[2]));
  if (spreads) {
    const reached = new Set();
    for (const round of film.messages) {
      for (const message of round) {
        if (message[2] || !touches(message) || reached.has(message[1])) continue;
        reached.add(message[1]);
        parents[message[1]] = message[0];
      }
    }
  } else {
    for (const round of film.messages)
      for (const message of round) if (touches(message)) parents[message[0]] = message[1];
  }
  // Not a tree if following the parents leads in a circle.
  for (let rank = 0; rank < film.ranks; ++rank) {
    let at = rank;
    for (let hops = 0; parents[at] >= 0; ++hops) {
      at = parents[at];
      if (hops > film.ranks) return null;
    }
  }
  const roots = parents.filter((each) => each < 0).length;
  return roots === 1 ? parents : null;
}

function depths(parents) {
  return parents.map((_, rank) => {
    let depth = 0;
    for (let at = rank; parents[at] >= 0; at = parents[at]) ++depth;
    return depth;
  });
}

// x of each rank of a tree: leaves side by side, parents above the middle of their children.
function tidy(parents) {
  const children = parents.map(() => []);
  parents.forEach((parent, rank) => parent >= 0 && children[parent].push(rank));
  const xs = new Array(parents.length);
  let next = 0;
  const visit = (rank) => {
    if (children[rank].length === 0) {
      xs[rank] = next++;
      return;
    }
    children[rank].forEach(visit);
    xs[rank] = (xs[children[rank][0]] + xs[children[rank].at(-1)]) / 2;
  };
  visit(parents.indexOf(-1));
  return xs;
}

function treeCards(film, box, aspect) {
  const parents = treeOf(film);
  if (!parents) return null;
  const level = depths(parents);
  const deepest = Math.max(...level);
  const leaves = level.filter((each) => each === 1).length;
  // A star: the root in the middle of a circle.
  if (deepest === 1 && film.ranks > 5) {
    const root = parents.indexOf(-1);
    const around = [...parents.keys()].filter((rank) => rank !== root);
    const [rx, ry] = circle(around.length, box, aspect);
    return {
      cards: parents.map((_, rank) =>
        rank === root ? { rank, x: 0, y: 0 } : { rank, ...onCircle(around.indexOf(rank), around.length, rx, ry) },
      ),
    };
  }
  const xs = tidy(parents);
  const wide = Math.max(...xs);
  const gapX = Math.max(box.width + 14, wide ? Math.min(240, (620 * aspect) / wide) : 0);
  const gapY = box.height + (film.ranks <= 16 ? 58 : 40);
  return { cards: xs.map((x, rank) => ({ rank, x: x * gapX, y: level[rank] * gapY })), leaves };
}

function circle(count, box, aspect) {
  const stretch = Math.min(1.7, Math.max(1, aspect));
  const gap = Math.hypot(box.width + 16, box.height + 16);
  // Enough for neighbours not to touch: on the flat sides they stand side by side, at the ends one above the other.
  const need = count < 2 ? 0 : count === 2 ? (box.width + 60) / 2 : gap / (2 * Math.sin(Math.PI / count));
  let radius = Math.max(count <= 4 ? 125 : 150, need * (count > 12 ? 0.86 : 0.9));
  for (; radius < 4000; radius *= 1.03) {
    const spots = Array.from({ length: count }, (_, i) => onCircle(i, count, radius * stretch, radius));
    const touch = spots.some((a, i) => {
      const b = spots[(i + 1) % count];
      return count > 1 && Math.abs(a.x - b.x) < box.width + 12 && Math.abs(a.y - b.y) < box.height + 12;
    });
    if (!touch) break;
  }
  return [radius * stretch, radius];
}

function onCircle(index, count, rx, ry) {
  const angle =
    (2 * Math.PI * index) / count - Math.PI / 2 - (count === 4 ? Math.PI / 4 : 0) + (count === 2 ? -Math.PI / 2 : 0);
  return { x: rx * Math.cos(angle), y: ry * Math.sin(angle), angle };
}

// The ring folded into a rectangle, so that many ranks fill the picture: along the top, then to and fro
// through the rows, and back up the left side. Every hop is to a neighbour.
function foldedRing(count, box, aspect) {
  const [dx, dy] = [box.width + 18, box.height + 18];
  let best = null;
  for (let rows = 2; rows <= count; rows += 2) {
    const across = Math.max(2, Math.ceil(count / rows));
    const badness = Math.abs(Math.log((across * dx) / (rows * dy) / aspect)) + (2 * (across * rows - count)) / count;
    if (!best || badness < best.badness) best = { rows, across, badness };
  }
  const { rows, across } = best;
  const cycle = [];
  for (let x = 0; x < across; ++x) cycle.push([x, 0]);
  for (let y = 1; y < rows; ++y) for (let x = 1; x < across; ++x) cycle.push([y % 2 ? across - x : x, y]);
  for (let y = rows - 1; y > 0; --y) cycle.push([0, y]);
  // Places that are left over are skipped evenly.
  const spare = cycle.length - count;
  const kept = cycle.filter(
    (_, i) => Math.floor(((i + 1) * spare) / cycle.length) === Math.floor((i * spare) / cycle.length),
  );
  return kept.map(([x, y], rank) => ({ rank, x: x * dx, y: y * dy }));
}

const mostOnCircle = 20;

function ringCards(film, box, aspect) {
  if (film.ranks > mostOnCircle) return { cards: foldedRing(film.ranks, box, aspect), folded: true };
  const [rx, ry] = circle(film.ranks, box, aspect);
  return {
    cards: Array.from({ length: film.ranks }, (_, rank) => ({ rank, ...onCircle(rank, film.ranks, rx, ry) })),
    round: [rx, ry],
  };
}

function cubeCards(film, box) {
  const bits = Math.max(1, Math.ceil(Math.log2(film.ranks)));
  const [w, h] = [box.width, box.height];
  const gap = film.ranks <= 16 ? 56 : 22;
  // Bit by bit: across, down, then aslant, then a second cube beside the first, and so on.
  const slant = [w + 18, -(h * 0.42 + gap * 0.5)];
  const steps = [[bits > 2 ? 2 * slant[0] : w + gap * 1.6, 0], [0, h + gap * (bits > 2 ? 1.7 : 1.2)], slant];
  const cube = [steps[0][0] + slant[0] + w + gap, steps[1][1] - slant[1] + h + gap];
  if (film.ranks > 16) {
    steps[0] = [w + 12, 0];
    steps[1] = [0, h + 12];
    steps[2] = [2 * (w + 12) + 16, 0];
    steps.push([0, 2 * (h + 12) + 16], [4 * (w + 12) + 50, 0], [0, 4 * (h + 12) + 50]);
  } else {
    steps.push([cube[0], 0], [0, cube[1]]);
  }
  const cards = Array.from({ length: film.ranks }, (_, rank) => {
    let [x, y] = [0, 0];
    for (let bit = 0; bit < bits; ++bit) {
      if (!((rank >> bit) & 1)) continue;
      x += steps[bit][0];
      y += steps[bit][1];
    }
    return { rank, x, y };
  });
  return { cards };
}

function gridCards(film, box, aspect) {
  let [across, down, layers] = film.shape.length ? film.shape : [0, 0, 1];
  layers ??= 1;
  if (!film.shape.length) {
    across = Math.ceil(Math.sqrt(film.ranks * Math.max(1, aspect)));
    down = Math.ceil(film.ranks / across);
  }
  const nodes = ["ring_ring", "ring_tree"].includes(film.algorithm.split("/")[1]);
  const gap = film.ranks <= 16 ? 44 : 20;
  const gapX = box.width + gap;
  const gapY = box.height + (nodes ? gap * 1.9 : gap);
  const cards = [];
  for (let rank = 0; rank < film.ranks; ++rank) {
    const layer = Math.floor(rank / (across * down));
    const x = (rank % across) * gapX + layer * (across * gapX + 50);
    cards.push({ rank, x, y: Math.floor((rank % (across * down)) / across) * gapY });
  }
  const frames = [];
  if (nodes) {
    for (let node = 0; node < down; ++node) {
      frames.push({
        x: -box.width / 2 - 14,
        y: node * gapY - box.height / 2 - 24,
        w: (across - 1) * gapX + box.width + 28,
        h: box.height + 38,
        words: `node ${node}`,
      });
    }
  } else if (film.shape.length === 3) {
    for (let layer = 0; layer < layers; ++layer) {
      frames.push({
        x: layer * (across * gapX + 50) - box.width / 2 - 14,
        y: -box.height / 2 - 24,
        w: (across - 1) * gapX + box.width + 28,
        h: (down - 1) * gapY + box.height + 38,
        words: `layer ${layer}`,
      });
    }
  }
  return { cards, frames, wraps: true };
}

function columnCards(film, box) {
  const gap = film.ranks <= 8 ? 40 : film.ranks <= 16 ? 14 : film.ranks <= 32 ? 5 : 3;
  return { cards: Array.from({ length: film.ranks }, (_, rank) => ({ rank, x: rank * (box.width + gap), y: 0 })) };
}

// Each rank stands twice: above with its place in the first tree, below with its place in the second.
function doubleCards(film, wide) {
  const trees = [treeOf(film, 0), treeOf(film, 1)];
  if (film.chunks !== 2 || !trees[0] || !trees[1]) return null;
  const boxes = [boxesOf(film, [0], "tree", wide), boxesOf(film, [1], "tree", wide)];
  const [box] = boxes;
  const levels = trees.map(depths);
  const deep = Math.max(...levels[0], ...levels[1]);
  const gapY = box.height + (film.ranks <= 16 ? 40 : 26);
  const gapX = box.width * (film.ranks > 8 ? 0.62 : 0.8) + 10;
  const cards = [];
  for (const part of [0, 1]) {
    for (let rank = 0; rank < film.ranks; ++rank) {
      const y = part === 0 ? levels[0][rank] * gapY : (2 * deep + 1 - levels[1][rank]) * gapY + 22;
      cards.push({ rank, x: rank * gapX, y, part, box: boxes[part] });
    }
  }
  const middle = deep * gapY + gapY / 2 + 11;
  return { cards, divide: middle };
}

// Cards with their corners, and the size of the whole picture.
export function layOut(film, kind, aspect = 1.5) {
  const wide = film.ranks <= 4 ? 112 : film.ranks <= 6 ? 104 : 92;
  let use = kind === "auto" ? naturalLayout(film) : kind;
  const all = Array.from({ length: film.pairs ? film.ranks * film.ranks : film.chunks }, (_, i) => i);
  let box = boxesOf(film, all, use, wide);
  let found = null;
  if (use === "double") found = doubleCards(film, wide);
  if (use === "tree") found = treeCards(film, box, aspect);
  if (use === "hypercube") found = cubeCards(film, box);
  if (use === "grid") found = gridCards(film, box, aspect);
  if (use === "columns") found = columnCards(film, box);
  if (!found) {
    use = "ring";
    box = boxesOf(film, all, use, wide);
    found = ringCards(film, box, aspect);
  }
  const cards = found.cards.map((card) => {
    const own = card.box ?? box;
    return {
      ...card,
      box: own,
      w: own.width,
      h: own.height,
      left: card.x - own.width / 2,
      top: card.y - own.height / 2,
    };
  });
  const margin = use === "columns" ? 16 : 26;
  const frames = found.frames ?? [];
  // Arrows between columns run above the boxes and need room there.
  const above = use === "columns" ? (film.ranks <= 16 ? 96 : 120) : 0;
  const left = Math.min(...cards.map((each) => each.left), ...frames.map((each) => each.x)) - margin;
  const top = Math.min(...cards.map((each) => each.top), ...frames.map((each) => each.y)) - margin - above;
  const right = Math.max(...cards.map((each) => each.left + each.w), ...frames.map((each) => each.x + each.w)) + margin;
  const bottom = Math.max(...cards.map((each) => each.top + each.h), ...frames.map((each) => each.y + each.h)) + margin;
  for (const card of cards) {
    card.left -= left;
    card.top -= top;
    card.x -= left;
    card.y -= top;
  }
  for (const frame of frames) {
    frame.x -= left;
    frame.y -= top;
  }
  return {
    kind: use,
    cards,
    frames,
    width: right - left,
    height: bottom - top,
    centre: [-left, -top],
    divide: found.divide === undefined ? null : found.divide - top,
    cardOf(rank, chunk) {
      if (use !== "double") return cards[rank];
      return cards[(chunk === 1 ? film.ranks : 0) + rank];
    },
  };
}
