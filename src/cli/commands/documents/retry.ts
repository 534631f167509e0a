import { retryDocument } from '../../../domain/documents/claims/outcomes.ts'
import { command, printResult } from '../../command.ts'
import { PLACE } from '../../place/options.ts'
import { whoActs } from '../actor.ts'
import { parseId } from '../positionals.ts'
import { needDocument } from './document.ts'

export const documentRetry = command({
  name: 'document retry',
  positionals: ['ID'],
  summary: 'make a document new again, so that the next worker of its agent claims it',
  about: `For one that failed, or that was finished by mistake. Its attempts begin anew and its note goes. One that a worker
holds is taken from it: what that worker sends for it is refused. The server may run meanwhile.`,
  options: [...PLACE, 'json'],
  changesData: true,
  example: 'cambista document retry 41',
  run({ options, positionals, terminal, withDatabase }) {
    const id = parseId(positionals[0])
    const by = whoActs(terminal.env)
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      await needDocument(db, id)
      const { was, document } = await retryDocument(db, id, by, clock)
      printResult(terminal, options, document, [`document ${id} is new again, it was ${was}`])
      return 0
    })
  },
})
