import { h } from "./dom.js";
import { math } from "./math.js";

// What an algorithm does, why, and when it wins. The words are the library's, those of `tutti explain --why`.

export function algorithmText(algorithm) {
  const text = algorithm.reason;
  const parts = [h("h2", {}, `How ${algorithm.name.split("/")[1].replaceAll("_", " ")} works, and why`)];
  if (text) parts.push(h("p", {}, text.idea), h("p", {}, text.why), h("p", {}, h("strong", {}, "Bound. "), text.bound));
  if (algorithm.order) parts.push(h("p", {}, h("strong", {}, "Order of additions. "), `It adds ${algorithm.order}.`));
  if (algorithm.formulas)
    parts.push(h("p", {}, h("strong", {}, "Time with one port: "), math(algorithm.formulas.seconds)));
  return parts;
}
