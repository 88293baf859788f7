// Formulas of the library, which are plain text, as MathML: "2(p−1)α + (p−1)/p·n(2β+γ) if p = 2^L".

const space = "http://www.w3.org/1998/Math/MathML";
const plainWords =
  /^(if|else|is|with|and|or|of|no|formula|the|in|by|recurrence|over|rounds|minus|plus|some|rank|has|same|depth|both|trees|two|subtrees|its|even|odd|all|later|earlier|among|ranks|T of|time|α-β-γ)$/;
const functions = /^(min|max|log)$/;

function m(name, ...children) {
  const made = document.createElementNS(space, name);
  made.append(...children);
  return made;
}

function tokens(text) {
  return text.match(/[a-z_]{3,}\/[a-z_]{3,}|[A-Za-z]{2,}|\d+(?:\.\d+)?|log₂|[₀-₉ᵢ]+|\s+|./gu) ?? [];
}

// Reads products and quotients so that a/b becomes a fraction; the rest stays in a row.
class Reader {
  constructor(text) {
    this.list = tokens(text.replace(/log₂/g, "log₂"));
    this.at = 0;
  }

  peek() {
    return this.list[this.at];
  }

  row(end) {
    const items = [];
    while (this.at < this.list.length && this.peek() !== end) {
      const item = this.item();
      if (item) items.push(item);
      // n/p, (p−1)/p, 1/β
      while (this.peek() === "/" && items.length > 0) {
        ++this.at;
        const below = this.item();
        items.push(m("mfrac", bare(items.pop()), bare(below ?? m("mrow"))));
      }
    }
    ++this.at;
    return items;
  }

  item() {
    const token = this.list[this.at++];
    if (token === undefined) return null;
    let made;
    if (/^\s+$/.test(token)) return null;
    if (token === "(") made = brackets("(", this.row(")"), ")");
    else if (token === "⌈") made = brackets("⌈", this.row("⌉"), "⌉");
    else if (token === "⌊") made = brackets("⌊", this.row("⌋"), "⌋");
    else if (/^\d/.test(token)) made = m("mn", token);
    else if (token.includes("/") && token.length > 2) made = m("mtext", `T(${token})`);
    else if (functions.test(token)) {
      made = m("mi", token);
      made.setAttribute("mathvariant", "normal");
    } else if (plainWords.test(token) || (/^[a-z]{2,}$/i.test(token) && !/^(Ln|Lw|nβ|nγ|kw|gn)/.test(token))) {
      if (/^[a-zA-Z]{2}$/.test(token) && !plainWords.test(token))
        return m("mrow", ...[...token].map((each) => m("mi", each)));
      return m("mtext", `\u00a0${token}\u00a0`);
    } else if (/^[A-Za-zαβγΣ]$/u.test(token)) made = m("mi", token);
    else if (token === "·") made = m("mo", "\u2062");
    else made = m("mo", token);
    return this.scripts(made, token);
  }

  scripts(made, token) {
    const next = this.peek();
    if (next && /^[₀-₉ᵢ]+$/u.test(next) && (token === "log" || /^[A-Za-z]$/.test(token))) {
      ++this.at;
      const plain = next.replace(/[₀-₉]/g, (each) => "₀₁₂₃₄₅₆₇₈₉".indexOf(each)).replace("ᵢ", "i");
      made = m("msub", made, /\d/.test(plain) ? m("mn", plain) : m("mi", plain));
    }
    if (this.peek() === "^") {
      ++this.at;
      made = m("msup", made, bare(this.item() ?? m("mrow")));
    }
    return made;
  }
}

function brackets(open, items, close) {
  const [before, after] = [m("mo", open), m("mo", close)];
  // Only fractions need tall brackets.
  if (!items.some((each) => each.tagName === "mfrac" || each.querySelector("mfrac")))
    for (const each of [before, after]) each.setAttribute("stretchy", "false");
  const row = m("mrow", before, ...items, after);
  row.bracketed = open === "(";
  return row;
}

// Without the brackets that a fraction or an exponent makes superfluous.
function bare(item) {
  if (item.bracketed) {
    item.firstChild.remove();
    item.lastChild.remove();
    item.bracketed = false;
  }
  return item;
}

export function math(text) {
  const made = m("math", ...new Reader(text).row(null));
  made.setAttribute("aria-label", text);
  made.setAttribute("title", text);
  return made;
}

// A critical path: "6α + 1.5nβ + 0.75nγ".
export function linearMath(price, bytes) {
  const n = Math.max(1, bytes);
  const terms = [m("mn", String(price.messages)), m("mi", "α")];
  const add = (amount, greek) => {
    if (amount > 0)
      terms.push(m("mo", "+"), m("mn", String(Number((amount / n).toPrecision(4)))), m("mi", "n"), m("mi", greek));
  };
  add(price.bytes, "β");
  add(price.reduced, "γ");
  return m("math", ...terms);
}
