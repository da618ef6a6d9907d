# Debian python3-onnx: what it says of every model below a folder, JSON lines
import sys, os, json, onnx
from onnx import shape_inference, numpy_helper
def prod(d):
    r=1
    for x in d: r*=int(x)
    return r
def graphs(g):
    yield g
    for n in g.node:
        for a in n.attribute:
            for s in ([a.g] if a.HasField('g') else [])+list(a.graphs): yield from graphs(s)
def constant(n): # dims of a Constant, its content
    for a in n.attribute:
        if a.name=='value': return list(a.t.dims), numpy_helper.to_array(a.t)
        if a.name in('value_int','value_float','value_string'): return [], None
        if a.name=='value_ints': return [len(a.ints)], a.ints
        if a.name=='value_floats': return [len(a.floats)], None
for root,_,files in os.walk(sys.argv[1]):
    for f in sorted(files):
        if not f.endswith('.onnx'): continue
        p=os.path.join(root,f)
        m=onnx.load(p); nodes=[n for g in graphs(m.graph) for n in g.node]; maker={o:n.op_type for n in nodes for o in n.output}
        ini={t.name:(list(t.dims),numpy_helper.to_array(t)) for g in graphs(m.graph) for t in g.initializer}
        ini.update({n.output[0]:constant(n) for n in nodes if n.op_type=='Constant' and constant(n)})
        users={}
        for n in nodes:
            for i in n.input: users.setdefault(i,set()).add(n.op_type)
        made=[n for n in nodes if n.op_type=='ConstantOfShape' and n.input[0] in ini]
        params=sum(prod(d) for name,(d,_) in ini.items() if users.get(name)!={'ConstantOfShape'})+sum(prod(ini[n.input[0]][1]) for n in made)
        w=lambda n,i: n.input[i] if i<len(n.input) else ''
        const=set(ini)
        for n in nodes: # what follows from constants alone is one
            if n.input and all(i in const or i=='' for i in n.input): const|=set(n.output)
        conv=[n for n in nodes if n.op_type=='Conv' and w(n,1) in const]
        fc=sum(1 for n in nodes if n.op_type=='Gemm' or n.op_type=='MatMul' and (w(n,1) in const or maker.get(w(n,0))=='Flatten') or n.op_type in('MatMulInteger',) and w(n,1) in const or n.op_type=='QLinearMatMul' and w(n,3) in const or n.op_type=='Conv' and maker.get(w(n,0))=='GlobalAveragePool')
        row=dict(path=p,conv=len(conv),filters=sum(ini[n.input[1]][0][0] for n in conv if n.input[1] in ini and len(ini[n.input[1]][0])),pool=sum(n.op_type in('MaxPool','AveragePool','GlobalAveragePool') for n in nodes),fc=fc,params=params,nodes=len(m.graph.node))
        try:
            s=shape_inference.infer_shapes(m,data_prop=True)
            row['shapes']={v.name:[d.dim_value if d.HasField('dim_value') else -1 for d in v.type.tensor_type.shape.dim] for v in list(s.graph.value_info)+list(s.graph.output) if v.type.HasField('tensor_type') and v.type.tensor_type.HasField('shape')}
        except Exception as e: row['shapes']={}
        print(json.dumps(row))
