// ADDRESS INDICATOR DATE KEY: one value by the bank's old web service.
import soap from 'soap'

const [, , address, Indicador, date, Token] = process.argv
const client = await soap.createClientAsync(`${address}?WSDL`)
const [answer] = await client.ObtenerIndicadoresEconomicosXMLAsync({
  Indicador,
  FechaInicio: date,
  FechaFinal: date,
  Nombre: 'N',
  SubNiveles: 'N',
  CorreoElectronico: 'a@b.cr',
  Token,
})
const [, value] = /<NUM_VALOR>(.*?)</.exec(answer.ObtenerIndicadoresEconomicosXMLResult)
process.stdout.write(JSON.stringify(Number(value)))
