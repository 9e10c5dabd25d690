/** A page with one of its parts written again. The page marks the part by comments with its name. */
export function withPart(page: string, name: string, text: string): string {
  const start = `<!-- ${name}: written by \`npm run docs\` -->`;
  const end = `<!-- /${name} -->`;
  const [before, rest, ...furtherStarts] = page.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined || furtherStarts.length > 0) {
    throw new Error(`The page must hold "${start}" and "${end}" once`);
  }
  return `${before}${start}\n\n${text}\n${end}${after}`;
}
