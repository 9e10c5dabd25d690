/** The seeds of a range such as `1-5`, or the one that is named. */
export function seedsOf(range: string): readonly number[] {
  const [first = 1, last = first] = range.split('-').map(Number);
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}
