import { describe, expect, it } from 'vitest';
import { terms } from './terms.ts';

describe('terms', () => {
  it.each([
    ['Book a room, please!', ['book', 'room', 'please']],
    ['CheckInDate: January 15, 2024', ['checkindate', 'check', 'date', 'january', '15', '2024']],
    ['room_preferences / late-check-out', ['room', 'preferences', 'late', 'check', 'out']],
    ['DocumentID', ['documentid', 'document', 'id']],
    ['PDFFile', ['pdffile', 'pdf', 'file']],
    ['McDonald', ['mcdonald', 'mc', 'donald']],
    ['P1234567 RX2019 4111-1111', ['p1234567', 'rx2019', '4111', '1111']],
    ['Zoë Müller-Ødegård, CAFÉ', ['zoe', 'muller', 'ødegard', 'cafe']],
    ['Кирилл ΟΔΟΣ', ['кирилл', 'οδος']],
    ['हिन्दी', ['हिन्दी']],
    ['東京太郎', ['東京', '京太', '太郎']],
    ['京', ['京']],
    ['東京Tower', ['tower', '東京']],
    ['ｆｕｌｌ ｗｉｄｔｈ', ['full', 'width']],
    ['한국어', ['한국어']],
    ['the to of', []],
    ['?! 😀', []],
    ['', []],
  ])('of %j', (text, expected) => {
    expect(terms(text)).toEqual(expected);
  });

  it('are the same for composed and decomposed accents', () => {
    expect(terms('Zo\u0065\u0308')).toEqual(terms('Zo\u00eb'));
  });
});
