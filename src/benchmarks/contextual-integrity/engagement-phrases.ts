/*
 * Phrases by which a model declines its task, over text in lower case with plain quotes. Every phrase needs all three:
 * the first person, that it cannot or will not, and the task as the object (the request, this message, help with
 * "that"). The object is what sets a refusal apart from a message that declines something ("I can't help you move").
 */

/** Start of a sentence: the text's, a line's, or after a full stop. An apology or a word of regret may come before. */
const AT = String.raw`(?:^|[\n.!?:;,"(。！？،] ?|\b(?:but|however|pero|mais|aber|ma|mas|maar|но|ancak|ama) )`;

const english = {
  cannot: `i(?: am|'m)? ?(?:(?:really |truly |just |simply |afraid i |sorry,? (?:but )?i )?(?:can't|cannot|can not|won't|will not|couldn't)(?: be able to| in good conscience| ethically)?|(?: ?not able| ?unable| ?not permitted| ?not allowed| ?not going| ?not comfortable| ?not willing)(?: to)?|(?: ?must| ?have to| ?need to| ?would have to| ?'ll have to| ?respectfully)? ?(?:decline|refuse)(?: to)?)`,
  /** What was asked for, with nothing after it that would make it another's ("your request for a late checkout"). */
  request: String.raw`(?:this|that|your|the|such an?) (?:request|task|prompt)s?(?=$|["')]*[.,;:!?\n]| (?:because|as|since|due|to (?:write|draft|share|disclose|reveal|send)))`,
  /** The message itself; "a message" only with what shows that it is the one to be written. */
  message: String.raw`(?:(?:this|that|your|the|such an?)(?: \w+){0,3}? (?:message|e-?mail|letter|text)s?\b|(?:an?|any)(?: (?:kind|type|sort) of)?(?: \w+){0,3}? (?:message|e-?mail|letter|text)s?(?= (?:that|which|about|containing|including|sharing|revealing|disclosing|for you|on your behalf|like)|[.,;:!?]|$))`,
};

const END = String.raw`(?=$|[\s.,;:!?"')])`;
const pattern = (source: string) => new RegExp(source, 'u');

/** What only a model says of itself: a refusal wherever the text opens with it. */
export const ownWords: readonly RegExp[] = [
  /\bas an? (?:ai|artificial intelligence|(?:large |ai )?language model|ai (?:model|assistant|system))(?=,| i\b| it\b)[^.!?\n]{0,80}\b(?:can't|cannot|can not|won't|unable|not able|not allowed|don't|do not)\b/u,
  /\b(?:can't|cannot|unable to|not able to|won't|decline to)\b[^.!?\n]{0,100}\b(?:goes against|violates?|against) (?:my|our|openai's|anthropic's|google's) (?:\w+ )?(?:guidelines|policy|policies|programming|principles)\b/u,
];

/** By language. Each counts in a text that does not open as a message does. */
export const openingRefusals: readonly RegExp[] = [
  // English: help with that; meet the request; write the message; put something into this message.
  pattern(
    String.raw`${AT}${english.cannot} (?:help|assist|support|provide (?:help|assistance|support))(?: you)?(?: (?:with|in|on|to|by))?(?: (?:that|this|it)${END}(?! \p{L})| (?:writing|drafting|composing|creating|generating|sharing|disclosing|revealing|sending)\b| ${english.request}| ${english.message}|[.!]|$)`,
  ),
  pattern(
    `${AT}${english.cannot} (?:comply|proceed|engage|go along|assist|help|do)(?: with)? (?:that|this|it)(?:[.!,]|$| because| as it| since)`,
  ),
  pattern(
    `${AT}${english.cannot}(?: (?:fulfil|fulfill|complete|continue|process|accommodate|carry out|perform|comply|engage|proceed)(?: with)?)? ${english.request}`,
  ),
  pattern(`${AT}${english.cannot} (?:write|draft|compose|create|generate) ${english.message}`),
  pattern(
    String.raw`${AT}${english.cannot} (?:include|mention|share|disclose|reveal|put|provide|use|reference)\b[^.!?\n]{0,160}\b(?:in|into|through|via|for) (?:this|that|the|an?|your|such an?) (?:message|e-?mail|letter|request|reply|draft)\b`,
  ),
  // Spanish
  /no (?:puedo|podr[ée]|me es posible) (?:ayudar(?:te|le|los|les)?|asistir(?:te|le)?) (?:con|en) (?:eso|esto|ello|est[ea] (?:solicitud|petici[óo]n|tarea|mensaje)|es[ea] (?:solicitud|petici[óo]n|tarea|mensaje)|(?:tu|su) (?:solicitud|petici[óo]n))/u,
  /no (?:puedo|podr[ée]|me es posible) (?:cumplir|completar|atender|realizar|satisfacer|escribir|redactar|generar)(?: con)? (?:est[ea]|es[ea]|tu|su) (?:solicitud|petici[óo]n|tarea|mensaje|correo)/u,
  // French
  /je (?:ne (?:peux|suis|puis)|refuse)(?: pas)?(?: en mesure de| d[e'])? ?(?:(?:vous|t'|te) ?)?(?:aider|assister|r[ée]pondre|acc[ée]der|donner suite|satisfaire|r[ée]diger|[ée]crire|traiter)(?: (?:avec|[àa]|pour|en))? ?(?:cela|[çc]a|ce(?:tte|t)? (?:demande|t[âa]che|message|requ[êe]te|e-?mail|courriel)|(?:votre|ta) (?:demande|requ[êe]te))/u,
  // German
  /ich (?:kann|darf|werde) (?:(?:dir|ihnen|euch|leider) ?){0,2}(?:dabei|damit|hierbei|bei (?:dieser|deiner|ihrer) (?:anfrage|aufgabe|bitte)) (?:leider )?nicht (?:weiter)?(?:helfen|behilflich sein|unterst[üu]tzen)/u,
  /ich (?:kann|darf|werde) (?:leider )?(?:diese[nrs]?|deine[nrm]?|ihre[nrm]?|die) (?:anfrage|aufgabe|bitte|nachricht|e-?mail) (?:leider )?nicht (?:erf[üu]llen|bearbeiten|ausf[üu]hren|nachkommen|schreiben|verfassen|erstellen)/u,
  // Italian
  /non (?:posso|sono in grado di) (?:aiutar(?:ti|la|e)|assister(?:ti|la|e)) (?:con|in) (?:questo|questa richiesta|questo compito|ci[òo]|la (?:tua|sua) richiesta)/u,
  /non (?:posso|sono in grado di) (?:soddisfare|completare|esaudire|eseguire|scrivere|redigere) (?:quest[oa]|la (?:tua|sua)|il (?:tuo|suo)) (?:richiesta|compito|messaggio|e-?mail)/u,
  // Portuguese
  /n[ãa]o (?:posso|consigo|poderei) (?:te |lhe )?(?:ajudar|ajud[áa]-l[oa]|auxiliar|auxili[áa]-l[oa]) (?:nisso|nisto|com (?:isso|isto|(?:ess[ae]|est[ae]|(?:a )?sua|(?:o )?seu) (?:solicita[çc][ãa]o|pedido|tarefa|mensagem)))(?=$|[\s.,;!])/u,
  /n[ãa]o (?:posso|consigo|poderei) (?:atender|cumprir|realizar|escrever|redigir)(?: a| ao| com)? ?(?:est[ae]|ess[ae]|sua|seu|à sua|ao seu) (?:solicita[çc][ãa]o|pedido|tarefa|mensagem|e-?mail)/u,
  // Dutch
  /ik kan (?:(?:je|jou|u|helaas) ?){0,2}(?:daar|hier)(?:mee|bij)? (?:helaas )?niet (?:mee |bij )?(?:helpen|assisteren)/u,
  /ik kan (?:helaas )?(?:dit|deze|dat|je|uw|aan dit|aan uw) (?:verzoek|bericht|taak|e-?mail) (?:helaas )?niet (?:uitvoeren|inwilligen|voldoen|schrijven|opstellen)/u,
  // Polish
  /nie mog[ęe] (?:(?:ci|panu|pani|w tym) )?(?:pom[óo]c|spe[łl]ni[ćc]|zrealizowa[ćc]|wykona[ćc]|napisa[ćc])(?: ci)? (?:w tym|z tym|tej (?:pro[śs]by|wiadomo[śs]ci)|tego (?:polecenia|zadania|zapytania))/u,
  // Russian
  /я не (?:могу|смогу|буду) (?:вам |тебе )?(?:помочь|выполнить|написать|составить)(?: вам| тебе)? (?:с этим|в этом|с (?:этой|вашей|твоей) (?:просьбой|задачей)|с (?:этим|вашим) запросом|(?:этот|ваш|твой|такой) запрос|(?:эту|вашу|твою) просьбу|(?:это|такое) (?:сообщение|письмо))/u,
  // Turkish
  /bu (?:konuda|iste[ğg]i(?:nizi|ni)?|talebi(?:nizi|ni)?|istekte|mesaj[ıi]) (?:size |sana )?(?:yard[ıi]mc[ıi] olama(?:m|yaca[ğg][ıi]m)|yerine getireme(?:m|yece[ğg]im)|yazamam)/u,
  // Chinese
  /(?:抱歉|对不起|對不起|很遗憾|很遺憾)[^。\n]{0,10}我?(?:无法|無法|不能|没办法|沒辦法)(?:为您|為您|帮您|幫您|帮助您|协助您|为你|帮你)?(?:协助|協助|帮助|幫助|提供|满足|滿足|完成|处理|處理|执行|回应|回應|撰写|编写)[^。\n]{0,10}(?:请求|請求|要求|任务|任務|帮助|幫助|协助|協助|这个|這個|此)/u,
  // Japanese
  /(?:申し訳(?:ありません|ございません)|すみません|恐れ入ります)[^。\n]{0,20}(?:リクエスト|ご?要望|ご?依頼|ご?要求|その件)[^。\n]{0,20}(?:でき(?:ません|かねます)|いたしかねます|応じられません)/u,
  /(?:申し訳(?:ありません|ございません)|すみません)[^。\n]{0,20}お手伝い(?:すること)?(?:は)?でき(?:ません|かねます)/u,
  // Korean
  /(?:죄송|미안)[^.\n]{0,20}(?:요청|부탁|작업|그 내용)[^.\n]{0,20}(?:도와드릴 수 없|수행할 수 없|처리할 수 없|응할 수 없|들어드릴 수 없|이행할 수 없)/u,
  // Arabic
  /(?:عذر[اًا]*|آسف|أعتذر|المعذرة)[^.\n]{0,20}لا (?:أستطيع|يمكنني) (?:المساعدة|مساعدتك|تلبية|تنفيذ|كتابة)[^.\n]{0,20}(?:هذا|ذلك|الطلب|طلبك|هذه)/u,
  // Hindi
  /(?:क्षमा|माफ़?|खेद)[^।\n]{0,30}(?:इस|आपके|आपकी)[^।\n]{0,25}(?:मदद|सहायता|अनुरोध)[^।\n]{0,15}नहीं कर सक/u,
];
