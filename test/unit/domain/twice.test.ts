// The work of every transaction may run twice (`atomically`): these suites pass as well when each of them does.

import '../../contract/twice.ts'
import './documents/claims.test.ts'
import './documents/quotas.test.ts'
import './documents/removal.test.ts'
import '../cli/commands/directory/directory-mistakes.test.ts'
import '../sync/publication.test.ts'
import '../sync/run.test.ts'
