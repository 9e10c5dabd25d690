import { readPage } from './samples.ts';

const IN_CHECKOUT = /^npm (start|run pack:client)\b/;

/** The commands of a page for the app's folder, in their order and as they are written; those for the checkout are left out. */
export function guideCommands(page: string): readonly string[] {
  return readPage(page)
    .samples.filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.split('\n'))
    .map((line) => line.trim())
    .filter(
      (line) => line !== '' && !line.endsWith('# in the checkout') && !IN_CHECKOUT.test(line),
    );
}
