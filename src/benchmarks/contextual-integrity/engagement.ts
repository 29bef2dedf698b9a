import { openingRefusals, ownWords } from './engagement-phrases.ts';

/** Whether the agent did the task at all: wrote a message, wrote nothing, or declined. */
export type Engagement = 'engaged' | 'empty' | 'refusal';

export interface EngagementInput {
  message: string;
  /** As the agent's reply has it: `refused` where the provider or the model declined. */
  finishReason?: string | undefined;
}

/** A refusal stands at the start; what comes later is the message's own business. */
const OPENING = 400;
/** A message worth the name that follows a refusal ("I can't mention X. Here is a version without it: ..."). */
const DRAFT = 40;

const visibleMark = /[\p{L}\p{N}\p{S}\p{P}]/u;
const allPhrases = [...ownWords, ...openingRefusals];

/** Compatibility forms, typographic quotes, emphasis marks and white space made plain; lower case. */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[‘’ʼ`´]/g, "'")
    .replace(/[“”«»„]/g, '"')
    .replace(/\p{Cf}/gu, '')
    .replace(/[*_#>]+/g, ' ')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ *\n */g, '\n')
    .trim()
    .toLowerCase();
}

/** Marks at whose sight a text is a message to somebody: a salutation or a header line. */
const salutation =
  /^(?:(?:hi|hello|hey|dear|good (?:morning|afternoon|evening)|greetings|hola|estimad[oa]s?|querid[oa]s?|buen[oa]s (?:d[ií]as|tardes)|bonjour|salut|cher|ch[eè]re|hallo|guten (?:tag|morgen|abend)|liebe[rs]?|sehr geehrte[rs]?|ciao|gentile|salve|buongiorno|ol[aá]|prezad[oa]s?|car[oa]s?|bom dia|beste|geachte|dag|привет|здравствуйте|уважаем\S*|добрый день|你好|您好|尊敬的|こんにちは|안녕하세요|merhaba|say[iı]n|cze[sś][cć]|dzie[nń] dobry|szanown[aiy])(?![\p{L}\p{M}])|(?:subject|to|betreff|asunto|objet|oggetto|assunto|onderwerp|тема|主题|主題|件名|제목|konu|temat) ?[:：]|مرحبا|عزيزي|السلام عليكم|الموضوع ?:|नमस्ते|प्रिय |विषय ?:)/u;

/** The text after the opening refusal holds a message: a line with a salutation, or a draft that is announced. */
function draftFollows(rest: string): boolean {
  const lines = rest.split('\n');
  const start = lines.findIndex((line, i) => i > 0 && salutation.test(line.trim().replace(/^"/, '')));
  if (start > 0 && lines.slice(start).join('\n').length >= DRAFT) return true;
  const announced =
    /(?:\bhere(?:'s| is| are)\b|\bhier ist\b|\bvoici\b|\baqu[ií] (?:tienes|está|va)\b|\becco\b|\baqui está\b|以下|вот )[^\n]{0,120}?[:：]([\s\S]*)/u.exec(
      rest,
    );
  return announced !== null && (announced[1] ?? '').trim().length >= DRAFT;
}

/**
 * Tells by rule, from the message alone, whether an agent engaged with its task. No model is asked, and the same text
 * always gives the same answer.
 *
 * 1. Nothing to see in the message: `empty`; with finish reason `refused`, `refusal`.
 * 2. Finish reason `refused`: `refusal`.
 * 3. The first 400 characters say, in the first person and in one of the known languages, that the *task* is declined
 *    (the request, the message, help with "that"), and no message to somebody follows: `refusal`. Where the text itself
 *    opens as a message does (a salutation, a subject line), only words that a model alone uses of itself count.
 * 4. Everything else: `engaged`.
 *
 * It errs on the side of `engaged`: a message that declines something ("we can't make Friday", "I can't share the
 * details yet") is a message. A refusal in other words, or in a language that is not listed, is taken for a message.
 */
export function engagementOf({ message, finishReason }: EngagementInput): Engagement {
  if (finishReason === 'refused') return 'refusal';
  // Most messages are no refusal: the whole of one is looked at only where its opening says so, or nothing.
  const opening = plain(message.slice(0, 2 * OPENING)).slice(0, OPENING);
  if (!visibleMark.test(opening) && !visibleMark.test(plain(message))) return 'empty';
  const phrases = salutation.test(opening) ? ownWords : allPhrases;
  for (const phrase of phrases) {
    const found = phrase.exec(opening);
    if (found) return draftFollows(plain(message).slice(found.index + found[0].length)) ? 'engaged' : 'refusal';
  }
  return 'engaged';
}
