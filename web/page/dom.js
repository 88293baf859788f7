// Elements, in few words.

export const byId = (id) => document.getElementById(id);

function fill(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "value" || key === "checked") made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false));
  return made;
}

export function h(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function s(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

// Replaces the content of an element; what is null or false is left out.
export function put(element, ...children) {
  element.replaceChildren(
    ...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false),
  );
}

// Signs of buttons: drawn, because not every font has them.
const signs = {
  play: "M8 5v14l11-7z",
  pause: "M7 5h4v14H7zM13 5h4v14h-4z",
  next: "M6 5v14l9-7zM16 5h3v14h-3z",
  back: "M18 5v14l-9-7zM5 5h3v14H5z",
  first: "M4 5h3v14H4zM20 5v14l-6-4.7V19l-7-7 7-7v4.700z",
  last: "M17 5h3v14h-3zM4 5v14l6-4.7V19l7-7-7-7v4.7z",
  link: "M10.600 13.400a1 1 0 0 1 0-1.400l2.800-2.800a1 1 0 1 1 1.400 1.400L12 13.400a1 1 0 0 1-1.400 0zM8.100 12.200l-1.800 1.800a2.700 2.700 0 0 0 3.800 3.800l1.800-1.800 1.400 1.400-1.800 1.800a4.700 4.700 0 0 1-6.600-6.600l1.800-1.800zM15.900 11.800l1.800-1.800a2.700 2.700 0 0 0-3.800-3.800l-1.800 1.800-1.400-1.400 1.800-1.800a4.700 4.700 0 0 1 6.600 6.600l-1.800 1.800z",
  done: "M9.500 17.500 4 12l1.500-1.500 4 4 9-9L20 7z",
  print: "M7 3h10v4H7zM5 8h14a2 2 0 0 1 2 2v6h-4v4H7v-4H3v-6a2 2 0 0 1 2-2zm4 6v4h6v-4z",
  auto: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 2v14a7 7 0 0 1 0-14z",
  light:
    "M12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM11 1h2v4h-2zM11 19h2v4h-2zM1 11h4v2H1zM19 11h4v2h-4zM3.500 4.900l1.400-1.400 2.800 2.800-1.400 1.400zM16.300 17.700l1.400-1.400 2.800 2.800-1.400 1.400zM19.100 3.500l1.400 1.400-2.800 2.800-1.400-1.400zM6.300 16.300l1.400 1.400-2.800 2.800-1.400-1.400z",
  dark: "M20 14.500A8.500 8.500 0 0 1 9.500 4a8.500 8.500 0 1 0 10.500 10.500z",
};

export function sign(name) {
  return s(
    "svg",
    { viewBox: "0 0 24 24", class: "sign-icon", "aria-hidden": "true", "data-sign": name },
    s("path", { d: signs[name] }),
  );
}

export function say(text) {
  const live = byId("live");
  if (live.textContent !== text) live.textContent = text;
}

// The tooltip, beside the pointer or below an element.
export function showTip(text, x, y) {
  const tip = byId("tip");
  if (tip.textContent !== text) tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(6, Math.min(x + 14, innerWidth - box.width - 8))}px`;
  tip.style.top = `${y + 18 + box.height > innerHeight ? Math.max(6, y - box.height - 12) : y + 18}px`;
}

export function hideTip() {
  byId("tip").hidden = true;
}

// Runs `work` once in the next frame, however often it is asked for.
export function inFrame(work) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}

export function choice(label, value, options, onchange, attributes = {}) {
  const select = h("select", { ...attributes, onchange: (event) => onchange(event.target.value) });
  for (const each of options) {
    if (each.group) {
      const group = h("optgroup", { label: each.group });
      for (const [key, words] of each.options)
        group.append(h("option", { value: key, selected: key === value }, words));
      select.append(group);
    } else {
      const [key, words] = each;
      select.append(h("option", { value: key, selected: key === value }, words));
    }
  }
  return h("label", { class: "field" }, h("span", {}, label), select);
}

// A row of buttons of which one is pressed.
export function segments(label, value, options, onchange) {
  return h(
    "div",
    { class: "segments", role: "group", "aria-label": label },
    options.map(([key, words, title]) =>
      h(
        "button",
        {
          type: "button",
          "aria-pressed": String(key === value),
          title,
          "data-value": key,
          onclick: () => onchange(key),
        },
        words,
      ),
    ),
  );
}

// Resolves when the browser has painted what is there now.
export function painted() {
  return new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}
