import { type DocumentNode, visit } from 'graphql';

const INVALID =
  /^Variable "\$(\w+)" has invalid value(?: at (\S+))?: (?:Expected value of type "\w+" (?:not )?to include (?:required|unknown) field "(\w+)")?/;

/**
 * Which argument an unfit variable was meant for, as a path such as `input.size.units`; null where
 * that cannot be told. A client shows the error beside a field of its form, and knows no variables.
 */
export function blamedArgument(message: string, document: DocumentNode): string | null {
  const found = INVALID.exec(message);
  if (!found) return null;
  const [, variable = '', path = '', field] = found;
  const place = placeOf(variable, document) ?? variable;
  return `${place}${path}${field === undefined ? '' : `.${field}`}`;
}

function placeOf(variable: string, document: DocumentNode): string | null {
  let place: string | null = null;
  const trail: string[] = [];
  const named = {
    enter: ({ name }: { name: { value: string } }) => void trail.push(name.value),
    leave: () => void trail.pop(),
  };
  visit(document, {
    Argument: named,
    ObjectField: named,
    Variable({ name }) {
      // Its declaration stands outside every argument.
      if (name.value === variable && trail.length > 0) place ??= trail.join('.');
    },
  });
  return place;
}
