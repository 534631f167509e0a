// Prints, as a JSON string, the TypeScript types that openapi-typescript makes of a description.

import { readFileSync } from 'node:fs'
import openapiTS, { astToString } from 'openapi-typescript'

const [file] = process.argv.slice(2)
process.stdout.write(JSON.stringify(astToString(await openapiTS(readFileSync(file, 'utf8')))))
