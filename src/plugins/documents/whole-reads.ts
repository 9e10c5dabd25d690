import {
  BREAK,
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { needsWholeRead } from '../field-extensions.ts';

/**
 * Whether a document selects a field that needs the whole of a read of which only a part is cached. The read
 * begins before that field is resolved, so it is determined ahead, whatever variables include or skip.
 */
export function selectsWholeRead(schema: GraphQLSchema, document: DocumentNode): boolean {
  const types = new TypeInfo(schema);
  let isSelected = false;
  const enter = () => {
    const field = types.getFieldDef();
    if (!field || !needsWholeRead(field)) return undefined;
    isSelected = true;
    return BREAK;
  };
  visit(document, visitWithTypeInfo(types, { [Kind.FIELD]: { enter } }));
  return isSelected;
}
