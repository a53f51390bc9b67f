/* What cannot be seen, made visible; as the library does in the terminal and in notebooks.
 *
 *   runs(bytes | string)      [{ kind: "text" | "sign" | "bytes", text }]; bytes are a hex string ("e298") or a string is text
 *   visible(text)             the text as one string: "a b\n" → "a·b↵"
 *   visibleBytes(hex)         bytes as one string: "e298" → "⟨E2 98⟩"
 *   fromHex(hex)              Uint8Array
 *   toHex(bytes)              "e298"
 *   count(n), ratio(x, d=2)   numbers for people: "12,345", "1.77"; a dash for null
 *   plural(n, one, many?)     "1 token", "2 tokens"
 *
 * Space ·, tab →, newline ↵, carriage return ␍, other controls their pictures, characters that cannot be seen or turn
 * the direction of text ⟨U+202E⟩, bytes that are no whole character ⟨E2 98⟩. Never a bare U+FFFD.
 */

const SIGNS = { " ": "·", "\t": "→", "\n": "↵", "\r": "␍", "\x7f": "␡" };
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Z}\ufffd]/u;
const MARK = /\p{M}/u;
const JOINERS = "\u200c\u200d";

export function fromHex(hex) {
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function signOf(char, before, after) {
  const sign = SIGNS[char];
  if (sign) return sign;
  if (char < " ") return String.fromCharCode(0x2400 + char.charCodeAt(0));
  if (!HIDDEN.test(char)) return null;
  if (JOINERS.includes(char) && before && after && !HIDDEN.test(before) && !HIDDEN.test(after)) return null;
  return `⟨U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

function textRuns(text) {
  const found = [];
  const chars = Array.from(text);
  chars.forEach((char, place) => {
    const sign = char >= "!" && char <= "~" ? null : signOf(char, chars[place - 1], chars[place + 1]);
    const kind = sign === null ? "text" : "sign";
    const last = found[found.length - 1];
    // A mark without a letter of its own gets the dotted circle, or it would sit on its neighbour's sign.
    const shown = sign ?? ((!last || last.kind !== "text") && MARK.test(char) ? "◌" + char : char);
    if (last && last.kind === kind) last.text += shown;
    else found.push({ kind, text: shown });
  });
  return found;
}

/* The length of the UTF-8 character at a place, 0 where there is none. */
function characterAt(bytes, place) {
  const lead = bytes[place];
  const length = lead < 0x80 ? 1 : lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
  if (length === 0 || place + length > bytes.length) return 0;
  for (let i = 1; i < length; i++) if ((bytes[place + i] & 0xc0) !== 0x80) return 0;
  const second = bytes[place + 1];
  if (lead === 0xe0 && second < 0xa0) return 0;
  if (lead === 0xed && second > 0x9f) return 0;
  if (lead === 0xf0 && second < 0x90) return 0;
  if (lead === 0xf4 && second > 0x8f) return 0;
  return length;
}

export function byteRuns(hex) {
  const bytes = fromHex(hex);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const found = [];
  let place = 0;
  while (place < bytes.length) {
    const start = place;
    let step;
    while (place < bytes.length && (step = characterAt(bytes, place)) > 0) place += step;
    if (place > start) found.push(...textRuns(decoder.decode(bytes.subarray(start, place))));
    const broken = place;
    while (place < bytes.length && characterAt(bytes, place) === 0) place += 1;
    if (place > broken) {
      const shown = Array.from(bytes.subarray(broken, place), (b) => b.toString(16).toUpperCase().padStart(2, "0"));
      found.push({ kind: "bytes", text: `⟨${shown.join(" ")}⟩` });
    }
  }
  return found;
}

export function runs(text) {
  return textRuns(text);
}

export function visible(text) {
  return textRuns(text).map((run) => run.text).join("");
}

export function visibleBytes(hex) {
  return byteRuns(hex).map((run) => run.text).join("");
}

const whole = new Intl.NumberFormat("en-US");

export function count(n) {
  return n === null || n === undefined ? "–" : whole.format(n);
}

const formats = new Map(); // making one takes longer than using it

export function ratio(x, digits = 2) {
  if (x === null || x === undefined) return "–";
  if (!formats.has(digits)) formats.set(digits, new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }));
  return formats.get(digits).format(x);
}

export function plural(n, one, many = `${one}s`) {
  return `${count(n)} ${n === 1 ? one : many}`;
}
