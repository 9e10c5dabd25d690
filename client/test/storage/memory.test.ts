import { memoryStorage } from '../../src/storage/memory.ts';
import { testStorageContract } from '../support/storage-contract.ts';

testStorageContract(async () => ({ storage: memoryStorage(), reopen: null }));
