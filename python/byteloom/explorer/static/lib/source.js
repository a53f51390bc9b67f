/* Where answers come from: the running explorer, or what a saved page holds.
 *
 *   connect()   → { live, session, ask(question) }
 *     question: { tab, text, tokenizer, options };  answer: { records, strip } or { error: { kind, message } }
 *     live: one question is on its way at a time; while it is, only the newest of those that follow is kept, and
 *     the others are answered with null
 */

import { count } from "./signs.js";

const REMEMBERED = 12; // and no answer that says it is pending: that one is asked for again

/* The same question gives the same string, whatever the order of its options. */
function key(value) {
  if (Array.isArray(value)) return `[${value.map(key).join()}]`;
  if (value !== null && typeof value === "object") {
    return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${key(value[name])}`).join()}}`;
  }
  return JSON.stringify(value) ?? "null";
}

const failure = (message) => ({ error: { kind: "Unreachable", message } });

async function post({ tab, text, tokenizer, options }) {
  let response;
  try {
    response = await fetch(`api/${tab}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...options, text, tokenizer }),
    });
  } catch {
    return failure("The explorer does not answer. If it was stopped, start byteloom explore again.");
  }
  try {
    return await response.json();
  } catch {
    return failure(`The explorer answered with status ${response.status} and no data.`);
  }
}

function live(session) {
  const most = session.limits.text_bytes;
  const known = new Map();
  let busy = false;
  let waiting = null;
  async function run(question, done) {
    busy = true;
    const answer = await post(question);
    if (!answer.error && !answer.records.pending) {
      known.set(key(question), answer);
      if (known.size > REMEMBERED) known.delete(known.keys().next().value);
    }
    done(answer);
    busy = false;
    if (waiting) {
      const next = waiting;
      waiting = null;
      run(...next);
    }
  }
  function ask(question) {
    const size = new TextEncoder().encode(question.text).length;
    if (size > most) {
      return Promise.resolve(failure(`The text has ${count(size)} bytes, and the explorer takes ${count(most)}. Use a part of it, or the command line for the whole.`));
    }
    const before = known.get(key(question));
    if (before) {
      waiting?.[1](null);
      waiting = null;
      return Promise.resolve(before);
    }
    return new Promise((done) => {
      if (!busy) return run(question, done);
      waiting?.[1](null);
      waiting = [question, done];
    });
  }
  return { live: true, session, ask };
}

function saved(data) {
  const known = new Map(data.answers.map(({ question, answer }) => [key(question), answer]));
  const missing = { error: { kind: "Saved", message: "This saved page does not hold an answer to that. Run byteloom explore to ask anything." } };
  return { live: false, session: data.session, ask: (question) => Promise.resolve(known.get(key(question)) ?? missing) };
}

export async function connect() {
  const island = document.getElementById("saved");
  if (island) return saved(JSON.parse(island.textContent));
  const response = await fetch("api/session");
  if (!response.ok) throw new Error(`the explorer answered with status ${response.status}`);
  return live(await response.json());
}
