// Unicode normalization does not decompose these letters into a base letter and a mark.
const UNDIVIDED: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};
const UNDIVIDED_LETTERS = /[ßæœøłđðþı]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII, controls included
const ASCII = /^[\x00-\x7f]*$/;

/** Text as search and the order by name compare it: without case and diacritics, in any locale. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(UNDIVIDED_LETTERS, (letter) => UNDIVIDED[letter] ?? letter);
}
