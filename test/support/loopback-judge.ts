import type { ChatBody } from './loopback-chat.ts';

/** A model that answers every request by rule, the same way each time: some secrets leak, most fields are told. */
export function ruleAnswer(body: ChatBody): string {
  const text = JSON.stringify(body.messages);
  let sum = 0;
  for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) >>> 0;
  const schema = JSON.stringify(body.response_format ?? {});
  const common = { reasoning: 'by rule', evidence: '' };
  if (schema.includes('leaked')) return JSON.stringify({ ...common, leaked: sum % 4 === 0 });
  if (schema.includes('communicated')) return JSON.stringify({ ...common, communicated: sum % 4 !== 0 });
  if (schema.includes('rating')) return JSON.stringify({ ...common, rating: ['Poor', 'Good', 'Excellent'][sum % 3] });
  return `Dear reader, this is message ${sum}.`;
}
