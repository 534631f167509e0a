// SERVICE KEY FROM TO: what one unit is worth. A key of '' is none.
import { Converter } from 'easy-currencies'

const [, , name, key, from, to] = process.argv
const converter = new Converter({ name, key: key || undefined })
process.stdout.write(JSON.stringify(await converter.convert(1, from, to)))
