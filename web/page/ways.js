// The ways of messages between the cards of a layout.

export class Ways {
  constructor(film, shape) {
    this.film = film;
    this.shape = shape;
    this.known = new Map();
  }

  // The way of a message between two cards: start, control point, end.
  between(from, to, chunk, straight = false) {
    const { shape } = this;
    const key = `${from},${to},${shape.kind === "double" ? chunk : 0}${straight}`;
    if (this.known.has(key)) return this.known.get(key);
    const a = shape.cardOf(from, chunk);
    const b = shape.cardOf(to, chunk);
    let path;
    if (shape.kind === "columns") {
      const lift = 18 + Math.min(70, Math.abs(a.x - b.x) * 0.16);
      const shift = a.x < b.x ? 0.16 : -0.16;
      path = [
        [a.x + a.w * shift, a.top - 4],
        [(a.x + b.x) / 2, a.top - 2 * lift],
        [b.x - b.w * shift, b.top - 4],
      ];
    } else {
      const [dx, dy] = [b.x - a.x, b.y - a.y];
      const length = Math.hypot(dx, dy) || 1;
      let curve = Math.min(26, length * 0.11);
      // A link that leads past other cards in a row or column bends around them.
      if (this.passes(a, b)) curve = Math.min(90, a.h * 0.75 + length * 0.06);
      else if (straight) curve = 0;
      const control = [(a.x + b.x) / 2 - (dy / length) * curve, (a.y + b.y) / 2 + (dx / length) * curve];
      path = [edge(a, control, b), control, edge(b, control, a)];
    }
    this.known.set(key, path);
    return path;
  }

  passes(a, b) {
    if (!["grid", "hypercube", "tree", "ring"].includes(this.shape.kind) || this.film.pairsUsed.size > 400)
      return false;
    for (const card of this.shape.cards) {
      if (card === a || card === b) continue;
      const along =
        ((card.x - a.x) * (b.x - a.x) + (card.y - a.y) * (b.y - a.y)) / ((b.x - a.x) ** 2 + (b.y - a.y) ** 2 || 1);
      if (along <= 0.05 || along >= 0.95) continue;
      const [px, py] = [a.x + along * (b.x - a.x), a.y + along * (b.y - a.y)];
      if (Math.abs(px - card.x) < card.w / 2 + 2 && Math.abs(py - card.y) < card.h / 2 + 2) return true;
    }
    return false;
  }
}

// Where the line from the middle of a card to a point leaves the card. If the point is on the card, because
// the two cards are close, the line to the other card counts.
function edge(card, [x, y], other) {
  const [dx, dy] = [x - card.x, y - card.y];
  const scale = Math.min((card.w / 2 + 6) / (Math.abs(dx) || 1e-9), (card.h / 2 + 6) / (Math.abs(dy) || 1e-9));
  if (scale < 1) return [card.x + dx * scale, card.y + dy * scale];
  return other ? edge(card, [other.x, other.y]) : [card.x, card.y];
}
