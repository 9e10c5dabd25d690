import {
  type DefinitionNode,
  type FieldNode,
  GraphQLError,
  Kind,
  OperationTypeNode,
  type ValidationRule,
} from 'graphql';
import { hasTrait } from '../field-traits.ts';

/** Refuses fields for queries alone in subscriptions, and in whichever fragments these spread. */
export const NoFieldsForQueriesRule: ValidationRule = (context) => {
  const found = new Map<DefinitionNode, FieldNode[]>();
  let inside: DefinitionNode | null = null;
  const enter = (definition: DefinitionNode) => {
    inside = definition;
  };
  return {
    OperationDefinition: enter,
    FragmentDefinition: enter,
    Field(node) {
      const field = context.getFieldDef();
      if (inside === null || !field || !hasTrait(field, 'notInSubscriptions')) return;
      const nodes = found.get(inside);
      if (nodes) nodes.push(node);
      else found.set(inside, [node]);
    },
    Document: {
      leave({ definitions }) {
        if (found.size === 0) return;
        const subscriptions = definitions
          .filter((one) => one.kind === Kind.OPERATION_DEFINITION)
          .filter(({ operation }) => operation === OperationTypeNode.SUBSCRIPTION);
        const fragments = context.getRecursivelyReferencedFragmentsForOperations(subscriptions);
        for (const node of [...subscriptions, ...fragments].flatMap(
          (one) => found.get(one) ?? [],
        )) {
          const message = `A subscription cannot have "${node.name.value}": ask for it in a query.`;
          context.reportError(new GraphQLError(message, { nodes: node }));
        }
      },
    },
  };
};
