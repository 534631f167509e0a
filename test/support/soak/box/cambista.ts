// bin/cambista.ts with the sources of one box.

import { main } from '../../../../src/main.ts'
import { FIVE } from './providers.ts'

main(FIVE)
