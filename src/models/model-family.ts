/**
 * Families of models, by words in their names. One maker's models count as one family: they share data, training and
 * taste, and a judge tends to favour what it would have written itself (Panickssery, Bowman and Feng, "LLM evaluators
 * recognize and favor their own generations", arXiv:2404.13076).
 */
const families: readonly (readonly [family: string, words: RegExp])[] = [
  ['OpenAI GPT', /\b(?:chatgpt|gpt|davinci|codex|o[1-9])(?![a-z])/],
  ['Anthropic Claude', /\bclaude/],
  ['Google Gemini and Gemma', /\b(?:gemini|gemma|palm)/],
  ['Meta Llama', /llama/],
  ['Mistral', /(?:mi[sx]tral|ministral|codestral|devstral|magistral|pixtral)/],
  ['Qwen', /\b(?:qwen|qwq|qvq)/],
  ['DeepSeek', /deepseek/],
  ['xAI Grok', /\bgrok/],
  ['Cohere Command and Aya', /\b(?:command|aya)(?![a-z])/],
  ['Microsoft Phi', /\bphi(?![a-z])/],
  ['Amazon Nova and Titan', /\b(?:nova|titan)(?![a-z])/],
  ['Zhipu GLM', /\b(?:chatglm|glm)/],
  ['Moonshot Kimi', /\b(?:kimi|moonshot)/],
  ['Nvidia Nemotron', /nemotron/],
  ['IBM Granite', /\bgranite/],
  ['AI2 OLMo', /\b(?:olmo|tulu)/],
];

/** The name without a provider in front, such as `openai-compatible:`; what follows a later `:` is a size or a tune. */
const bareName = (model: string): string =>
  model.replace(/^(?:openai|anthropic|google|openai-compatible|builtin):/, '');

/**
 * The families that a model's name speaks of: `openai:gpt-4o-mini` and what a server calls itself
 * (`gpt-4o-mini-2024-07-18`) alike. A distilled model may belong to two (`deepseek-r1-distill-llama-8b`). A name that
 * says nothing (`openai-compatible:judge`) belongs to none.
 */
export function familiesOf(model: string): string[] {
  // Separators become spaces, so that a word in a path or after an underscore starts like any other.
  const name = bareName(model)
    .toLowerCase()
    .replace(/[_/:.]+/g, ' ');
  return families.filter(([, words]) => words.test(name)).map(([family]) => family);
}

/**
 * What two models have in common: a family, or, where neither name speaks of one, the very same name. Nothing where
 * they are of different families, or where it cannot be told.
 */
export function sharedFamily(a: string, b: string): string | undefined {
  const ofB = new Set(familiesOf(b));
  const shared = familiesOf(a).find((family) => ofB.has(family));
  if (shared !== undefined) return shared;
  return bareName(a).toLowerCase() === bareName(b).toLowerCase() ? `"${bareName(a)}"` : undefined;
}

export interface FamilyPair {
  agent: string;
  judge: string;
  family: string;
}

/** Every pair of an agent's and a judge's model that share a family, each once. */
export function familyPairs(agents: readonly string[], judges: readonly string[]): FamilyPair[] {
  return [...new Set(agents)].flatMap((agent) =>
    [...new Set(judges)].flatMap((judge) => {
      const family = sharedFamily(agent, judge);
      return family === undefined ? [] : [{ agent, judge, family }];
    }),
  );
}
