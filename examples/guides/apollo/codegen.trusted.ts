import type { CodegenConfig } from '@graphql-codegen/cli';
import { addTypenameSelectionDocumentTransform } from '@graphql-codegen/client-preset';
import base from './codegen';

const config: CodegenConfig = {
  ...base,
  generates: {
    'src/gql/': {
      ...base.generates['src/gql/'],
      presetConfig: { fragmentMasking: false, persistedDocuments: { hashAlgorithm: 'sha256' } },
      documentTransforms: [addTypenameSelectionDocumentTransform],
    },
  },
};
export default config;
