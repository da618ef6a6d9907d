package backtest
import ("testing";"os";"path/filepath")
func TestDev(t *testing.T){
	data:=os.Getenv("FORETIME_DATA")
	for _,f:=range []float64{.03,.1,.25,.5}{
	for _, set := range [][2]string{{"steps-pai/minibatch.csv", "batch_time_norm"},{"steps-azure/values.csv.gz","value"},{"steps-nanogpt/steps.csv","seconds"}} {
		all,_,err:=Load(filepath.Join(data,set[0]),"series",set[1])
		if err!=nil {t.Fatal(err)}
		var cov,score,w,ref,n float64
		for _,s:=range all{
			c,err:=judge(Methods[0].New,s,f)
			if err!=nil{t.Fatal(err)}
			if c.unsure {ref++; continue}
			n++; score+=c.Score(1); w+=c.Width()
			if c.Contains(1){cov++} else if set[0][6]!='n' {t.Log(f,s.Name,c.Value,c.Low,c.High)}
		}
		t.Logf("%v %s refused %.2f covered %.3f width %.3f score %.3f",f,set[0],ref/float64(len(all)),cov/n,w/n,score/n)
	}}
}
