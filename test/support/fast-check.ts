// The door to fast-check: its properties draw their cases from the seed of the run, not from the clock.

import fc from 'fast-check'
import { SEED } from './seed.ts'

fc.configureGlobal({ seed: SEED })

export { fc }
