/** Classes of characters, as they are written between the brackets of a regular expression with the flag `u`. */
export interface CharacterClasses {
  readonly letter: string;
  /** Diacritics, and what is invisible. */
  readonly mark: string;
  readonly punctuation: string;
}

/**
 * Unicode's classes, as texts, because React Native's Babel preset writes out those of a literal, which is 24 kB. Hermes
 * before 2024 knows none: there they are those of folded Latin texts.
 */
export function characterClasses(isUnicode: boolean): CharacterClasses {
  if (isUnicode) return { letter: '\\p{L}', mark: '\\p{M}\\p{Cf}', punctuation: '\\p{P}' };
  return {
    letter: 'a-zÀ-\u1fff\u2c00-\uffff',
    mark: '\u0300-\u036f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff',
    punctuation: '!-#%-*,-/:;?@[-\\]_{}¡§«¶·»¿‐-‧‰-⁃⁅-⁞',
  };
}

/** The classes of this engine. */
export const HERE: CharacterClasses = characterClasses(areKnown(characterClasses(true)));

function areKnown({ letter }: CharacterClasses): boolean {
  try {
    return new RegExp(`[${letter}]`, 'u').test('ä');
  } catch {
    return false;
  }
}
