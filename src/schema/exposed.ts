import type { FieldMap, ObjectRef } from '@pothos/core';
import type { builder } from './builder.ts';

type Types = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer Each> ? Each : never;
export type RefOf<Row> = ObjectRef<Types, Row>;
export type FieldBuilder<Source> = PothosSchemaTypes.ObjectFieldBuilder<Types, Source>;

interface Scalars {
  ID: string;
  String: string;
  Int: number;
  Float: number;
  Boolean: boolean;
  DateTime: Date | number;
  JSON: unknown;
}

type Outputs = { [Name in keyof Scalars]: Scalars[Name] | null } & {
  [Name in keyof Scalars as `${Name}!`]: Scalars[Name];
} & { [Name in keyof Scalars as `[${Name}!]!`]: readonly Scalars[Name][] };

/** A description, or one with the reason why the field is deprecated. */
type Description = string | { readonly description: string; readonly deprecationReason: string };

/** Maps types, in SDL notation, to properties with the descriptions of their fields. */
type Descriptions<Source> = {
  readonly [Type in keyof Outputs]?: {
    readonly [Name in keyof Source as Source[Name] extends Outputs[Type]
      ? Name
      : never]?: Description;
  };
};

/** Describes fields that are plain properties of their source. */
export function exposed<Source>(
  t: FieldBuilder<Source>,
  descriptions: Descriptions<Source>,
): FieldMap {
  return fieldsOf(descriptions, (name, options) => t.expose(name as never, options as never));
}

/** Describes fields that are plain properties of a part of their source. */
export function exposedOf<Source, Part>(
  t: FieldBuilder<Source>,
  partOf: (source: Source) => Part,
  descriptions: Descriptions<Part>,
): FieldMap {
  return fieldsOf(descriptions, (name, options) => {
    const resolve = (source: Source) => partOf(source)[name as keyof Part];
    return t.field({ ...options, resolve } as never);
  });
}

function fieldsOf(
  descriptions: object,
  fieldOf: (name: string, options: object) => FieldMap[string],
): FieldMap {
  const fields: FieldMap = {};
  // The copy is for TypeScript, which finds no entries in an `object`.
  for (const [sdlType, properties] of Object.entries<Record<string, Description>>({
    ...descriptions,
  })) {
    const nullable = !sdlType.endsWith('!');
    const name = sdlType.replaceAll(/[[\]!]/g, '');
    const type = sdlType.startsWith('[') ? [name] : name;
    for (const [property, given] of Object.entries(properties)) {
      const described = typeof given === 'string' ? { description: given } : given;
      fields[property] = fieldOf(property, { type, nullable, ...described });
    }
  }
  return fields;
}
