import { expect, test } from 'vitest';
import { characterClasses } from '../../src/catalog/character-classes.ts';

const NAMES = ['letter', 'mark', 'punctuation'] as const;

test.each(NAMES)('an engine without Unicode’s classes knows each %s of Latin texts', (name) => {
  const [known, bare] = [true, false].map(
    (isKnown) => new RegExp(`^[${characterClasses(isKnown)[name]}]$`, 'u'),
  );
  const texts = Array.from({ length: 0x250 }, (_none, code) => String.fromCharCode(code));
  // As they are searched: in small letters, whose marks are removed before anything else is asked.
  const characters = new Set(texts.flatMap((text) => [...text.normalize('NFKD').toLowerCase()]));
  for (const character of [...characters, ...'–’…‹']) {
    if (/[×÷]/.test(character) || (name === 'letter' && /\p{M}/u.test(character))) continue;
    const place = `U+${character.charCodeAt(0).toString(16)}`;
    expect(bare?.test(character), place).toBe(known?.test(character));
  }
});
