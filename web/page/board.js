import { rankColour, themeColours } from "./colours.js";
import { lengthOf } from "./film.js";

// The ranks of a stage as cards with a box for each chunk, and the overlay behind them.

export class Board {
  constructor(stage, film, shape, ways) {
    Object.assign(this, { stage, film, shape, ways });
  }

  // Everything after `round` rounds.
  paint(pen, round) {
    const { film, shape } = this;
    const theme = themeColours();
    this.paintBackground(pen, theme);
    const held = film.runs ? film.held(round) : null;
    const fresh = film.fresh(round);
    for (const card of shape.cards) this.paintCard(pen, card, held, fresh, theme);
  }

  // The boxes that look different after one round and after another, next to it.
  changed(one, other) {
    return new Set([...this.film.fresh(one), ...this.film.fresh(other)]);
  }

  // These boxes only, over what is there.
  paintBoxes(pen, round, boxes) {
    const { film, shape } = this;
    const theme = themeColours();
    const held = film.runs ? film.held(round) : null;
    const fresh = film.fresh(round);
    for (const index of boxes) {
      const [rank, chunk] = [Math.floor(index / film.chunks), index % film.chunks];
      const card = shape.cardOf(rank, chunk);
      const [w, hgt] = card.box.cell;
      const [dx, dy] = card.box.place(chunk);
      pen.rect(card.left + dx, card.top + dy, w, hgt, { fill: theme.card });
      this.paintBox(pen, card, chunk, held, fresh, theme);
    }
  }

  paintBackground(pen, theme) {
    const { film, shape } = this;
    for (const frame of shape.frames) {
      pen.rect(frame.x, frame.y, frame.w, frame.h, { fill: null, stroke: theme.rim, radius: 14, dash: [5, 4] });
      pen.text(frame.x + 12, frame.y + 12, frame.words, { size: 11, fill: theme.soft, anchor: "start" });
    }
    if (shape.divide !== null) {
      pen.line(
        [
          [8, shape.divide],
          [shape.width - 8, shape.divide],
        ],
        { stroke: theme.rim, dash: [3, 5] },
      );
      pen.text(12, shape.divide - 10, "first half of the data", { size: 11, fill: theme.soft, anchor: "start" });
      pen.text(12, shape.divide + 11, "second half of the data", { size: 11, fill: theme.soft, anchor: "start" });
    }
    // The overlay: every pair that ever exchanges a message.
    if (shape.kind === "columns" || film.pairsUsed.size > 1200) return;
    for (const key of film.pairsUsed.keys()) {
      const [from, to] = key.split(",").map(Number);
      // Two ways between the same ranks are drawn as one line.
      const both = film.pairsUsed.has(`${to},${from}`);
      if (both && from > to) continue;
      for (const chunk of shape.kind === "double" ? [0, 1] : [0]) {
        if (shape.kind === "double" && !this.pairIn(from, to, chunk)) continue;
        pen.line(this.ways.between(from, to, chunk, both), {
          stroke: theme.rim,
          line: film.pairsUsed.size > 200 ? 0.6 : 1.2,
          curve: true,
          alpha: film.pairsUsed.size > 200 ? 0.35 : 0.75,
        });
      }
    }
  }

  pairIn(from, to, chunk) {
    this.halves ??= [0, 1].map((each) => {
      const found = new Set();
      for (const round of this.film.messages)
        for (const message of round)
          if (this.film.chunksOf(message).includes(each))
            found.add(`${message[0]},${message[1]}`).add(`${message[1]},${message[0]}`);
      return found;
    });
    return this.halves[chunk].has(`${from},${to}`);
  }

  paintCard(pen, card, held, fresh, theme) {
    const { film } = this;
    const { rank, box, left, top } = card;
    const colour = rankColour(rank, film.ranks);
    const picked = this.stage.picked?.rank === rank;
    pen.rect(left - 3, top - 2, card.w + 6, card.h + 5, {
      fill: theme.card,
      stroke: picked ? theme.accent : theme.rim,
      line: picked ? 2 : 1,
      radius: 6,
    });
    const size = film.ranks <= 32 ? 11.5 : 8;
    pen.circle(left + size * 0.55, top + box.head / 2, size * 0.36, { fill: colour });
    const isRoot = ["broadcast", "reduce", "scatter", "gather"].includes(film.collective) && rank === film.root;
    const name = film.ranks <= 8 && card.w > 60 ? `rank ${rank}${isRoot ? " · root" : ""}` : String(rank);
    pen.text(left + size * 1.2, top + box.head / 2 + 0.5, name, {
      size,
      fill: isRoot ? theme.ink : theme.soft,
      anchor: "start",
      weight: 600,
    });
    const chunks = card.part === undefined ? null : [card.part];
    const count = film.pairs ? film.ranks * film.ranks : film.chunks;
    for (let i = 0; i < (chunks ? 1 : count); ++i) this.paintBox(pen, card, chunks ? chunks[0] : i, held, fresh, theme);
  }

  paintBox(pen, card, chunk, held, fresh, theme) {
    const { film } = this;
    const { mode, follow, marks } = this.stage;
    const [w, hgt] = card.box.cell;
    const [dx, dy] = card.box.place(chunk);
    const x = card.left + dx + 0.5;
    const y = card.top + dy + 0.5;
    const gap = w > 12 ? 2 : w > 6 ? 1 : 0.6;
    const index = card.rank * film.chunks + chunk;
    const symbol = held ? held[index] : 0;
    const dim = follow !== null && follow !== chunk ? 0.22 : 1;
    const radius = w > 20 ? 3 : 0;
    const bw = w - gap;
    const bh = hgt - gap;
    if (symbol === 0) {
      const wanted = film.wanted(card.rank, chunk);
      pen.rect(x, y, bw, bh, { fill: theme.empty, alpha: dim * (wanted ? 1 : 0.55), radius });
    } else {
      this.paintHolding(pen, x, y, bw, bh, symbol, dim, theme, radius, card.rank, chunk);
    }
    const done = symbol !== 0 && film.complete(card.rank, chunk, symbol);
    if (marks.has(index)) pen.rect(x + 0.8, y + 0.8, bw - 1.6, bh - 1.6, { stroke: theme.bad, line: 2.5, radius });
    else if (fresh.has(index))
      pen.rect(x + 0.5, y + 0.5, bw - 1, bh - 1, {
        stroke: theme.ink,
        line: w > 20 ? 1.8 : 0.9,
        radius,
        alpha: w > 20 ? dim : 0.65 * dim,
      });
    if (w < 20 || bh < 11 || symbol === 0) return;
    const room = (bw - 2) / 6.5;
    const words = mode === "values" ? film.valueText(symbol) : mode === "sets" ? "" : film.short(symbol, room);
    if (!words) return;
    const size = Math.min(mode === "values" ? 12.5 : 12, bh * 0.66, ((bw - 2) / lengthOf(words)) * (done ? 1.5 : 1.65));
    if (size < 6) return;
    pen.text(x + bw / 2, y + bh / 2 + 0.5, words, { size, fill: theme.ink, weight: done ? 700 : 500, alpha: dim });
  }

  paintHolding(pen, x, y, w, hgt, symbol, dim, theme, radius, rank, chunk) {
    const { film } = this;
    const light = w > 20 ? 0.5 : 0.95;
    if (!film.reduces) {
      const owner = film.isLeaf(symbol) ? film.leaf(symbol)[0] : rank;
      // Blocks of one origin differ in strength, so that they can be told apart.
      const root = ["broadcast", "scatter"].includes(film.collective);
      const shade = root && film.chunks > 1 ? rankColour(chunk, film.chunks) : rankColour(owner, film.ranks);
      pen.rect(x, y, w, hgt, { fill: shade, alpha: light * dim, radius });
      return;
    }
    const count = film.contributors(symbol);
    const all = count === film.ranks && (film.collective === "barrier" || film.parts[symbol] === film.ranks);
    pen.rect(x, y, w, hgt, {
      fill: all ? theme.good : theme.empty,
      alpha: (all ? (w > 20 ? 0.4 : 0.9) : 1) * dim,
      radius,
    });
    if (all && w <= 20) return;
    if (film.ranks <= 16 && w >= 12) {
      const step = w / film.ranks;
      const high = w > 20 && hgt > 14 ? (all ? 4 : hgt) : hgt;
      for (let each = 0; each < film.ranks; ++each) {
        if (film.has(symbol, each))
          pen.rect(x + each * step, y + hgt - high, step + 0.2, high, {
            fill: rankColour(each, film.ranks),
            alpha: (all ? 0.9 : light) * dim,
          });
      }
      return;
    }
    // Too many ranks for stripes: the share of contributions, in the colour of their middle.
    pen.rect(x, y, Math.max(1, (w * count) / film.ranks), hgt, {
      fill: rankColour(film.middle(symbol), film.ranks),
      alpha: 0.85 * dim,
    });
  }
}
