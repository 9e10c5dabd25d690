import { type DocumentNode, type GraphQLError, type NameNode, visit } from 'graphql';
import { requestError } from '../../schema/public-error.ts';

const INVALID =
  /^Variable "\$(\w+)" has invalid value(?: at (\S+))?: (?:Expected value of type "\w+" (?:not )?to include (?:required|unknown) field "(\w+)")?/;

/**
 * Finds the argument that an unfit variable was meant for, as a path such as `input.size.units`;
 * null where it cannot be determined. A client shows the error beside a field of its form and knows
 * no variables.
 */
export function blamedArgument(message: string, document: DocumentNode): string | null {
  const found = INVALID.exec(message);
  if (!found) return null;
  const [, variable = '', path = '', field] = found;
  const place = placeOf(variable, document) ?? variable;
  return `${place}${path}${field === undefined ? '' : `.${field}`}`;
}

/** Whether the message is about a OneOf input object in the variables, one of whose members is null. */
export function isAboutNullMember(message: string, variables: Values): boolean {
  const [, variable = '', path = ''] = INVALID.exec(message) ?? [];
  if (!message.includes(': Within OneOf Input Object type ')) return false;
  let value: unknown = variables[variable];
  for (const name of path.match(/\w+/g) ?? []) value = (value as Values | null)?.[name];
  return value === null;
}

/** The error of a null in place of a number, where JSON may have written NaN as null. */
export function nullMemberError(argument: string): GraphQLError {
  const message = `${argument} must not be null: leave it out for none.`;
  return requestError('BAD_USER_INPUT', message, { argument });
}

type Values = Readonly<Record<string, unknown>>;

/** The argument, or the part of one, that a variable is used for; null where it is not used. */
export function placeOf(variable: string, document: DocumentNode): string | null {
  let place: string | null = null;
  const trail = new ArgumentTrail();
  visit(document, {
    ...trail.visitor,
    Variable({ name }) {
      // Its declaration stands outside every argument.
      if (name.value === variable && trail.names.length > 0) place ??= trail.names.join('.');
    },
  });
  return place;
}

/** The names of the argument and the fields of its input objects around the node being visited. */
export class ArgumentTrail {
  readonly names: string[] = [];
  readonly #named = {
    enter: ({ name }: { readonly name: NameNode }) => void this.names.push(name.value),
    leave: () => void this.names.pop(),
  };
  readonly visitor = { Argument: this.#named, ObjectField: this.#named };
}
