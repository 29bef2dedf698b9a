import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { passesLuhn } from './card.ts';
import { passesMod97 } from './iban.ts';
import { identifierKinds, redactIdentifiers } from './redact.ts';

const redact = (text: string) => redactIdentifiers(text, identifierKinds);

describe('checks', () => {
  it('Luhn, on the worked example 7992739871 and its check digit 3', () => {
    for (let digit = 0; digit <= 9; digit++) expect(passesLuhn(`7992739871${digit}`)).toBe(digit === 3);
  });

  it('mod 97, on the worked example GB82 WEST 1234 5698 7654 32', () => {
    expect(passesMod97('GB82WEST12345698765432')).toBe(true);
    expect(passesMod97('GB82WEST12345698765423')).toBe(false);
    expect(passesMod97('GB83WEST12345698765432')).toBe(false);
  });
});

describe('redactIdentifiers', () => {
  it.each([
    // E-mail
    ['mail a.b+c@mail.example.co.uk.', 'mail [e-mail address].'],
    ['(zoë.müller@exämple.de)', '([e-mail address])'],
    ['<a@b.org>, c@d.net;', '<[e-mail address]>, [e-mail address];'],
    // Cards
    ['card 4111 1111 1111 1111 exp 12/27', 'card [card number] exp 12/27'],
    ['card 4111-1111-1111-1111', 'card [card number]'],
    ['378282246310005', '[card number]'],
    ['call 12 then 5555555555554444.', 'call 12 then [card number].'],
    // IBAN
    ['IBAN: DE89 3704 0044 0532 0130 00.', 'IBAN: [bank account].'],
    ['de89370400440532013000', '[bank account]'],
    ['GB82-WEST-1234-5698-7654-32', '[bank account]'],
    // IP
    ['from 192.168.0.254:8080', 'from [IP address]:8080'],
    ['at 2001:db8::8a2e:370:7334.', 'at [IP address].'],
    // Social security
    ['SSN: 078-05-1120', 'SSN: [social security number]'],
    ['078 05 1120', '[social security number]'],
    // Passport
    ['Passport number: X1234567', 'Passport number: [travel document number]'],
    ['PassportNo: 912803456 (valid)', 'PassportNo: [travel document number] (valid)'],
    // Phone
    ['+49 30 901820', '[phone number]'],
    ['+1 (555) 010-4477!', '[phone number]!'],
    ['0044 20 7946 0018', '[phone number]'],
    ['tel. (555) 010-4477', 'tel. [phone number]'],
    ['555-010-4477', '[phone number]'],
    ['555-0134', '[phone number]'],
    ['06 12 34 56 78', '[phone number]'],
    ['020 7946 0018', '[phone number]'],
  ])('%s', (text, expected) => {
    expect(redact(text)).toBe(expected);
    expect(redact(expected)).toBe(expected);
  });

  it.each([
    'user@localhost',
    '@handle and a @ b.com',
    'a@b..com',
    '4111 1111 1111 1112',
    '1234567890123456',
    'version 1.2.3.4.5',
    '256.1.1.1',
    'at 12:30:45',
    'std::vector',
    '912-12-3456',
    'Booking KH-20731, room 417',
    'X1234567 is my booking',
    'born 2024-05-12',
    '12.05.2024 and 05/12/2024',
    '1990-1995',
    'from 10 to 12, page 345',
    'GPS 123.4567',
    'order 1234567',
    '1,234,567.89 EUR',
  ])('leaves %s', (text) => {
    expect(redact(text)).toBe(text);
  });

  it.each([
    ['iban', 'DE88 3704 0044 0532 0130 00'],
    ['iban', 'XX89 3704 0044 0532 0130 00'],
    ['ssn', '000-12-3456'],
    ['ssn', '123-00-4567'],
    ['ssn', '123-45-0000'],
  ] as const)('is no %s: %s', (kind, text) => {
    expect(redactIdentifiers(text, [kind])).toBe(text);
  });

  it('takes the kind that is told more surely where two overlap', () => {
    expect(redact('passport 4111111111111111')).toBe('passport [card number]');
    expect(redact('4111111111111111+49 30 901820')).toBe('[card number][phone number]');
    expect(redact('+4111111111111111@example.org')).toBe('[e-mail address]');
  });

  it('finds nothing in what it has written, whatever the text', () => {
    const piece = fc.constantFrom(
      '4111 1111 1111 1111',
      '+49 30 901820',
      'a@b.org',
      ' ',
      '-',
      '.',
      '0',
      '7',
      'x',
      'passport ',
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(' ')),
        (text) => {
          const once = redact(text);
          expect(redact(once)).toBe(once);
        },
      ),
    );
  });

  it.each([
    ['digits', '4'],
    ['grouped digits', '4 '],
    ['grouped zeros', '00 1'],
    ['at signs', 'a@'],
    ['a long host', '@a.'],
    ['plus signs', '+1 '],
    ['brackets', '(0'],
    ['colons', 'f:'],
    ['passports', 'passport '],
    ['countries', 'DE89 '],
    ['dots', '1.1.'],
    ['letters', 'a'],
  ])('ends on a megabyte of %s', { timeout: 30_000 }, (_, unit) => {
    expect(typeof redact(unit.repeat(Math.ceil(1_000_000 / unit.length)))).toBe('string');
  });
});
