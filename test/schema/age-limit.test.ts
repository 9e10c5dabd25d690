import { isInterfaceType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { isAgeLimit } from '../../src/plugins/field-extensions.ts';
import { buildSchema } from '../../src/schema/schema.ts';

test('age limits stand at fields of the root, where operations are searched for them', () => {
  const found = Object.values(buildSchema().getTypeMap())
    .filter((type) => isObjectType(type) || isInterfaceType(type))
    .flatMap((type) =>
      Object.values(type.getFields()).flatMap(({ name, args }) =>
        args
          .filter((arg) => isAgeLimit(arg) || arg.name === 'maxAge')
          .map((arg) => `${type.name}.${name}(${arg.name}) ${isAgeLimit(arg)}`),
      ),
    );
  expect(found.sort()).toEqual(['Query.orders(maxAge) true', 'Query.session(maxAge) true']);
});
