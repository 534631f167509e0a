import { retryDocument } from '../../../domain/documents/claims/outcomes.ts'
import { command, printResult } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { cliActor } from '../actor.ts'
import { parseId } from '../positionals.ts'
import { needDocument } from './document.ts'

export const documentRetry = command({
  name: 'document retry',
  positionals: ['ID'],
  options: [...STORAGE, 'json'],
  changesData: true,
  run({ options, positionals, terminal, withDatabase }) {
    const id = parseId(positionals[0])
    const by = cliActor(terminal.env)
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      await needDocument(db, id)
      const { was, document } = await retryDocument(db, id, by, clock)
      printResult(terminal, options, document, [`document ${id} is new again, it was ${was}`])
    })
  },
})
