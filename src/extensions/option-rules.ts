import { MAX_TIMER_MS } from '../../lib/clock.ts';
import { isObject } from '../../lib/is-object.ts';
import { fault, shown } from './faults.ts';

type Rule = readonly [isValid: (value: unknown) => boolean, must: string, isRequired?: boolean];

/** The rule of each option, where it is given; types alone do not hold for a file of JavaScript. */
export type Rules<Name extends string = string> = Readonly<Record<Name, Rule>>;

export const COUNT: Rule = [
  (value) => Number.isInteger(value) && (value as number) > 0,
  'a whole number from 1 on',
];
export const MILLISECONDS: Rule = [
  (value) => COUNT[0](value) && Number(value) <= MAX_TIMER_MS,
  `a whole number from 1 to ${MAX_TIMER_MS}`,
];
export const FLAG: Rule = [(value) => typeof value === 'boolean', 'true or false'];
export const FUNCTION: Rule = [(value) => typeof value === 'function', 'a function'];
export const NAME: Rule = [
  (value) => typeof value === 'string' && /^[a-z][A-Za-z0-9]{0,63}$/.test(value),
  'a name in camelCase, of letters and digits',
];
export const LIST_OF_TEXTS: Rule = [
  (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  'a list of texts',
];

/** The rule of an option that may not be left out. */
export const required = ([isValid, must]: Rule): Rule => [isValid, must, true];

/** Checks the options that an extension gives to a function of the kit, for `what`. Returns the words for whose they are. */
export function checkOptions(maker: string, what: string, rules: Rules, options: object): string {
  if (!isObject(options))
    throw fault(`${maker}(…) takes an object of options, not ${shown(options)}`);
  const { name } = options;
  const of = `of ${what} ${typeof name === 'string' ? name : '(without a name)'}`;
  const unknown = Object.keys(options).find((option) => !Object.hasOwn(rules, option));
  if (unknown !== undefined)
    throw fault(`${unknown} ${of} is no option: these are ${Object.keys(rules).join(', ')}`);
  for (const [option, [isValid, must, isRequired = false]] of Object.entries(rules)) {
    const value = options[option];
    if ((isRequired || value !== undefined) && !isValid(value))
      throw fault(`${option} ${of} must be ${must} (it is ${shown(value)})`);
  }
  return of;
}
