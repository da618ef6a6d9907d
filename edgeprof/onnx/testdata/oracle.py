# Debian python3-onnx: what its shape inference says of every model below a folder, JSON lines
import sys, os, json, onnx
from onnx import shape_inference
init=lambda g:{t.name:t for t in g.initializer}
for root,_,files in os.walk(sys.argv[1]):
    for f in sorted(files):
        if not f.endswith('.onnx'): continue
        p=os.path.join(root,f)
        m=onnx.load(p); g=m.graph; ini=init(g); maker={o:n.op_type for n in g.node for o in n.output}
        conv=[n for n in g.node if n.op_type=='Conv' and len(n.input)>1 and n.input[1] in ini]
        def prod(d):
            r=1
            for x in d: r*=x
            return r
        inp=lambda n,i: n.input[i] if i<len(n.input) else ''
        fc=sum(1 for n in g.node if n.op_type=='Gemm' or n.op_type=='MatMul' and (inp(n,1) in ini or maker.get(inp(n,0))=='Flatten') or n.op_type=='Conv' and maker.get(inp(n,0))=='GlobalAveragePool')
        row=dict(path=p,conv=len(conv),filters=sum(ini[n.input[1]].dims[0] for n in conv if len(ini[n.input[1]].dims)),pool=sum(n.op_type in('MaxPool','AveragePool','GlobalAveragePool') for n in g.node),fc=fc,params=sum(prod(t.dims) for t in g.initializer),nodes=len(g.node))
        try:
            s=shape_inference.infer_shapes(m,data_prop=True)
            row['shapes']={v.name:[d.dim_value if d.HasField('dim_value') else -1 for d in v.type.tensor_type.shape.dim] for v in list(s.graph.value_info)+list(s.graph.output) if v.type.HasField('tensor_type') and v.type.tensor_type.HasField('shape')}
        except Exception as e: row['shapes']={}
        print(json.dumps(row))
