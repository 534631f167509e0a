# ADDRESS BINDING INDICATOR DATE KEY: one value by both operations of the bank's old web service.
import json
import re
import sys

import zeep

address, binding, indicator, date, key = sys.argv[1:]
client = zeep.Client(address + "?WSDL")
service = client.bind("wsindicadoreseconomicos", binding)
parameters = dict(
    Indicador=indicator, FechaInicio=date, FechaFinal=date,
    Nombre="N", SubNiveles="N", CorreoElectronico="a@b.cr", Token=key,
)
text = service.ObtenerIndicadoresEconomicosXML(**parameters)
data_set = service.ObtenerIndicadoresEconomicos(**parameters)
rows = [row["INGC011_CAT_INDICADORECONOMIC"] for row in data_set._value_1._value_1]
print(json.dumps({
    "xml": float(re.search("<NUM_VALOR>(.*?)<", text)[1]),
    "set": [float(row.NUM_VALOR) for row in rows],
}))
