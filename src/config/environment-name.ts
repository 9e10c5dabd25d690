import { textWhere } from './kinds.ts';
import { editDistance } from './unknown-names.ts';

const PRODUCTION = 'production';
const MOST_EDITS = 2;

/** A word that was probably meant for `production` is refused: with it the rules of production would not hold. */
export const environmentName = textWhere(
  (text) => text === PRODUCTION || !isMeantForProduction(text),
  '`production`, written exactly so, or a word that is not close to it',
);

function isMeantForProduction(text: string): boolean {
  const letters = text.toLowerCase().replace(/[^a-z]/g, '');
  if (letters === 'prod' || letters === 'prd' || letters.startsWith(PRODUCTION)) return true;
  return editDistance(letters, PRODUCTION) <= MOST_EDITS;
}
