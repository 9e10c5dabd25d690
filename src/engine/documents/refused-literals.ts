import {
  BREAK,
  type DocumentNode,
  type GraphQLError,
  GraphQLID,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  Kind,
  type NameNode,
  TypeInfo,
  type ValueNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { INEXACT, isExactNumber } from '../../lib/exact-json.ts';
import { located, requestError } from '../operation/request-error.ts';

/** The error of the first number that a double cannot represent exactly, or null. */
export function inexactLiteralError(
  schema: GraphQLSchema,
  document: DocumentNode,
): GraphQLError | null {
  const isInexact: IsRefused = (node, types) => {
    if (node.kind !== Kind.INT && node.kind !== Kind.FLOAT) return false;
    // An ID is carried as text.
    return getNamedType(types.getInputType()) !== GraphQLID && !isExactNumber(node.value);
  };
  return firstRefused(schema, document, isInexact, (argument) =>
    requestError('BAD_USER_INPUT', `There is ${INEXACT.description}.`, { argument }),
  );
}

/** The error of the first null in a OneOf input, or null. Clients that write out their values send a mistyped number so. */
export function nullMemberLiteralError(
  schema: GraphQLSchema,
  document: DocumentNode,
): GraphQLError | null {
  const isNullMember: IsRefused = (node, types) => {
    const parent = getNullableType(types.getParentInputType());
    return node.kind === Kind.NULL && isInputObjectType(parent) && parent.isOneOf;
  };
  return firstRefused(schema, document, isNullMember, nullMemberError);
}

type IsRefused = (node: ValueNode, types: TypeInfo) => boolean;

function firstRefused(
  schema: GraphQLSchema,
  document: DocumentNode,
  isRefused: IsRefused,
  error: (argument: string) => GraphQLError,
): GraphQLError | null {
  const types = new TypeInfo(schema);
  const trail = new ArgumentTrail();
  let found: GraphQLError | null = null;
  // The variable whose default is being read, since the argument is where the variable is used.
  let variable: string | null = null;
  const check = (node: ValueNode) => {
    if (!isRefused(node, types)) return;
    // It is looked for only now: to find the place of each variable would take a visit of the whole document for each.
    const base = variable === null ? [] : [placeOf(variable, document)];
    found = located(error([...base, ...trail.names].join('.')), { nodes: [node] });
    return BREAK;
  };
  visit(
    document,
    visitWithTypeInfo(types, {
      ...trail.visitor,
      VariableDefinition: {
        enter(definition) {
          variable = definition.variable.name.value;
        },
        leave() {
          variable = null;
        },
      },
      IntValue: check,
      FloatValue: check,
      NullValue: check,
    }),
  );
  return found;
}

const INVALID =
  /^Variable "\$(\w+)" has invalid value(?: at (\S+))?: (?:Expected value of type "\w+" (?:not )?to include (?:required|unknown) field "(\w+)")?/;

/** The argument that an unfit variable was meant for, as `input.size.units`, for a form that knows no variables; or null. */
export function blamedArgument(message: string, document: DocumentNode): string | null {
  const found = INVALID.exec(message);
  if (!found) return null;
  const [, variable = '', path = '', field] = found;
  const place = placeOf(variable, document);
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
  const message = `${argument} must not be null, as which JSON writes NaN: leave it out for none.`;
  return requestError('BAD_USER_INPUT', message, { argument });
}

type Values = Readonly<Record<string, unknown>>;

/** The argument, or the part of one, that a variable is used for; its own name where it is not used. */
function placeOf(variable: string, document: DocumentNode): string {
  let place: string | null = null;
  const trail = new ArgumentTrail();
  visit(document, {
    ...trail.visitor,
    Variable({ name }) {
      // Its declaration stands outside every argument.
      if (name.value === variable && trail.names.length > 0) place ??= trail.names.join('.');
    },
  });
  return place ?? variable;
}

/** The names of the argument and the fields of its input objects around the node being visited. */
class ArgumentTrail {
  readonly names: string[] = [];
  readonly #named = {
    enter: ({ name }: { readonly name: NameNode }) => {
      this.names.push(name.value);
    },
    leave: () => {
      this.names.pop();
    },
  };
  readonly visitor = { Argument: this.#named, ObjectField: this.#named };
}
