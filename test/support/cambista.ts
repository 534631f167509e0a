// bin/cambista.ts with the providers of tests, for tests that start a process.

import { main } from '../../src/main.ts'
import { TEST_PROVIDERS } from './providers.ts'

main(TEST_PROVIDERS)
