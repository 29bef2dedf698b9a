/** The words of a name, in lower case: `camelCase`, `snake_case` and `name2` fall apart, numbers are words of their own. */
export function wordsOf(text: string): string[] {
  const apart = text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase();
  return apart.match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? [];
}

/** Words that name a kind of information rather than say something of a person. */
const labelWords: ReadonlySet<string> = new Set(
  [
    'account accounts address addresses allergies allergy amount amounts balance bank budget card cards condition',
    'conditions confidential contact contacts conversation conversations credit data date dates detail details diagnosis',
    'document documents email emails financial health history id identification income info information insurance',
    'medical medication medications message messages name names note notes number numbers passport password payment',
    'payments personal phone pin plan plans policy prescription prescriptions private record records report reports',
    'result results salary sensitive status type',
  ].flatMap((line) => line.split(' ')),
);

const lettersOnly = /^\p{L}/u;

/** Whether a part of a value is a label: nothing but words of its key and words that name kinds of information. */
export function isLabel(part: string, key: string): boolean {
  const words = wordsOf(part);
  const own = new Set(wordsOf(key));
  return words.length > 0 && words.every((word) => lettersOnly.test(word) && (own.has(word) || labelWords.has(word)));
}

/** `[Name]`, `<name>`, `{{ name }}`: letters and spaces between brackets. */
const bracketed = /\[[\p{L}\s_]+\]|<[\p{L}\s_]+>|\{[\p{L}\s_]+\}/u;
/** `XXX-XX-1234`, `****`, `###`, `___`: three or more of a kind with no letter beside them. */
const masked = /(?<!\p{L})x{3,}(?!\p{L})|\*{3,}|#{3,}|_{3,}|\?{3,}|•{3,}|█{3,}/iu;
const standIns =
  /^(n\/a|na|none|null|nil|tbd|tba|todo|unknown|undisclosed|unspecified|redacted|placeholder|example|not (provided|available|applicable|specified|disclosed|known))\.?$/iu;

/** A number of four digits or more that nobody drew: it counts up from 0 or 1, down from 9 or to 1 or 0, or repeats a digit. */
function isMadeUpNumber(part: string): boolean {
  if (!/^[\d\s().+-]+$/.test(part)) return false;
  const digits = part.replace(/\D/g, '');
  if (digits.length < 4) return false;
  const steps = new Set([...digits.slice(1)].map((digit, i) => (Number(digit) - Number(digits[i]) + 10) % 10));
  if (steps.size !== 1) return false;
  const [step] = steps;
  return step === 0 || (step === 1 && /^[01]/.test(digits)) || (step === 9 && /^9|[01]$/.test(digits));
}

/** Whether a part of a value stands in for one that was never filled in, or is a filler such as 123-456-7890. */
export function isPlaceholder(part: string): boolean {
  const text = part.trim();
  return bracketed.test(text) || masked.test(text) || standIns.test(text) || isMadeUpNumber(text);
}
