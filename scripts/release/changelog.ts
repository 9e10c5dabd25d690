/** The heading of what the next release has. */
export const UNRELEASED = '## Unreleased';

/** What a changelog says under the heading, up to the next release; empty if the heading is missing. */
export function sectionOf(changelog: string, heading: string): string {
  const lines = changelog.split('\n');
  const start = lines.findIndex((line) => line === heading || line.startsWith(`${heading}, `));
  if (start < 0) return '';
  const after = lines.slice(start + 1);
  const end = after.findIndex((line) => line.startsWith('## '));
  return (end < 0 ? after : after.slice(0, end)).join('\n').trim();
}

/** The changelog with its unreleased section under the version's heading, below an empty unreleased section. */
export function withRelease(changelog: string, version: string, day: string): string {
  return changelog.replace(UNRELEASED, `${UNRELEASED}\n\n## ${version}, ${day}`);
}

/** The lines `Breaking: …` of a section. Each names the elements of the schema that it breaks. */
export function breakingLines(section: string): readonly string[] {
  return [...section.matchAll(/^(?:- )?Breaking: (.*)$/gm)].map(([, text = '']) => text);
}
