// The library: compiled to WebAssembly, asked here in the page, or in a worker if it takes long.

let library = null;
let compiled = null;

export class LibraryError extends Error {
  constructor({ code, message }) {
    super(message);
    this.code = code;
  }
}

async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

function instance(load, module) {
  return new Promise((done, fail) => {
    load({
      instantiateWasm(imports, receive) {
        WebAssembly.instantiate(module, imports).then((made) => receive(made, module), fail);
        return {};
      },
    }).then(done, fail);
  });
}

// Runs in the worker; its text is part of the worker's source, so it refers to nothing outside.
function workerMain() {
  let ready = null;
  onmessage = async ({ data }) => {
    if (data.module) {
      ready = new Promise((done) => {
        load_tutti({
          instantiateWasm(imports, receive) {
            WebAssembly.instantiate(data.module, imports).then((made) => receive(made, data.module));
            return {};
          },
        }).then(done);
      });
      return;
    }
    const tutti = await ready;
    postMessage({ answer: tutti.ccall("tutti_answer", "string", ["string", "string"], [data.question, data.text]) });
  };
}

export async function startEngine() {
  compiled = await WebAssembly.compile(await unpacked(document.getElementById("wasm").textContent));
  library = await instance(load_tutti, compiled);
  front.start();
}

function rawAnswer(question, text) {
  return library.ccall("tutti_answer", "string", ["string", "string"], [question, text]);
}

// One worker, with one question at a time, so that overtaken ones can be dropped. Of several waiting
// questions in the same lane only the newest is answered; the others give null.
class Desk {
  #worker = null;
  #asked = null;
  #waiting = [];
  #latest = new Map();

  // Without a worker, which some browsers deny to a page from disk, the page itself answers.
  start() {
    if (this.#worker) return;
    const source = `${document.getElementById("loader").textContent}\n(${workerMain})();`;
    try {
      this.#worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    } catch {
      return;
    }
    this.#worker.onmessage = ({ data }) => this.#finish(data.answer);
    this.#worker.onerror = () => {
      this.#worker = null;
      if (this.#asked) this.#answerHere();
    };
    this.#worker.postMessage({ module: compiled });
  }

  answer(lane, question, text) {
    return new Promise((done) => {
      const one = { lane, question, text, done };
      this.#latest.set(lane, one);
      this.#waiting.push(one);
      this.#next();
    });
  }

  // Nobody waits for these questions any more.
  forget() {
    this.#latest.clear();
  }

  // A newer question of this lane was answered from memory.
  overtake(lane) {
    this.#latest.delete(lane);
  }

  get questions() {
    return this.#waiting.length + (this.#asked ? 1 : 0);
  }

  #next() {
    while (!this.#asked && this.#waiting.length > 0) {
      const one = this.#waiting.shift();
      if (this.#latest.get(one.lane) !== one) {
        one.done(null);
        continue;
      }
      this.#asked = one;
      if (this.#worker) this.#worker.postMessage({ question: one.question, text: one.text });
      else this.#answerHere();
    }
    tellBusy();
  }

  #answerHere() {
    const { question, text } = this.#asked;
    setTimeout(() => this.#finish(rawAnswer(question, text)));
  }

  #finish(answer) {
    const one = this.#asked;
    this.#asked = null;
    one.done(this.#latest.get(one.lane) === one ? answer : null);
    this.#next();
  }
}

// A change is shown by the answers of the front desk. The back desk answers what follows, such as charts, so
// that the next change need not wait for it.
const front = new Desk();
const back = new Desk();

function tellBusy() {
  document.body.dataset.questions = String(front.questions + back.questions);
}

function parsed(text) {
  const answer = JSON.parse(text);
  if (answer.error) throw new LibraryError(answer.error);
  return answer;
}

// Answers remembered by question; the reader goes back and forth.
const remembered = new Map();
const most = 60;

function remember(key, answer) {
  remembered.set(key, answer);
  if (remembered.size > most) remembered.delete(remembered.keys().next().value);
  return answer;
}

// Whether the answer is known already.
export function isRemembered(question, argumentsGiven) {
  return remembered.has(question + JSON.stringify(argumentsGiven));
}

// The answer at once.
export function ask(question, argumentsGiven = {}) {
  const text = JSON.stringify(argumentsGiven);
  const key = question + text;
  if (remembered.has(key)) return remembered.get(key);
  return remember(key, parsed(rawAnswer(question, text)));
}

// A promise of the answer, computed in the worker. Of several questions in the same `lane` only the newest
// is answered; the others give null.
export function askLater(question, argumentsGiven, lane = question) {
  return askAt(front, question, argumentsGiven, lane);
}

// The same for what may wait until a change is shown.
export function askLast(question, argumentsGiven, lane = question) {
  back.start();
  return askAt(back, question, argumentsGiven, lane);
}

// Drops the questions of askLast() that have not begun: the state that they are about has changed.
export function forgetLast() {
  back.forget();
}

async function askAt(desk, question, argumentsGiven, lane) {
  const text = JSON.stringify(argumentsGiven);
  const key = question + text;
  if (remembered.has(key)) {
    desk.overtake(lane);
    return remembered.get(key);
  }
  const answer = await desk.answer(lane, question, text);
  return answer === null ? null : remember(key, parsed(answer));
}
