import { documentHistory, newestEvents } from '../../../domain/documents/history.ts'
import { command } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { printRows } from '../rows.ts'

export const eventList = command({
  name: 'event list',
  options: ['document', 'limit', 'before', ...STORAGE, 'json'],
  run({ options, terminal, withDatabase }) {
    const [documentId, before] = [options.document, options.before]
    const { limit } = options
    return withDatabase({ mustExist: true }, async (db) => {
      const filter = { before, limit: limit + 1 }
      const rows = await (documentId === undefined
        ? newestEvents(db, filter)
        : documentHistory(db, documentId, filter))
      const events = rows.slice(-limit)
      printRows({ terminal, options }, events, {
        ID: 'id',
        AT: 'at',
        KIND: 'kind',
        ACTOR: ({ via, actor }) => (via === null ? 'unknown' : `${via} ${actor}`),
        DOCUMENT: 'document_id',
        COMPANY: 'company_id',
        SHA256: 'sha256',
      })
      if (rows.length > limit) terminal.err(`There are older ones: go on with --before ${events[0]?.id}\n`)
    })
  },
})
