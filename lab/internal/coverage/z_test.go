package coverage
import ("testing";"fmt";"math"
"github.com/discreet-dp/discreet/internal/evaluation"
"github.com/discreet-dp/discreet/internal/guard"
"github.com/discreet-dp/discreet/internal/model"
"github.com/discreet-dp/discreet/internal/model/metrics"
"github.com/discreet-dp/discreet/internal/privacy/dp"
"github.com/discreet-dp/discreet/internal/privacy/mech"
"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
"github.com/discreet-dp/discreet/internal/table/engine/memory"
"github.com/discreet-dp/discreet/internal/train"
"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)
func TestZ(t *testing.T){
 ctx:=t.Context()
 w:=frame.NewWorld("/work/shared/datasets")
 tr,err:=w.Read(ctx,"adult.yaml","adult/adult.data.gz"); if err!=nil{t.Fatal(err)}
 te,_:=w.Read(ctx,"adult.yaml","adult/adult.test.gz")
 a,err:=fit(ctx,tr); if err!=nil{t.Fatal(err)}
 other:=func(l,e string)*model.Model{ req,err:=train.Choice{Learner:l,Price:train.PriceText{Epsilon:e}}.Request("c"); if err!=nil{t.Fatal(err)}
  tab,_:=memory.New(tr); pl,err:=req.Plan(tr.Schema,tr.Rows); if err!=nil{t.Fatal(err)}
  m,err:=guard.Train(ctx,pl,tab,guard.Uncounted{},mech.NewExit(replay.Seeded(2,"x"))); if err!=nil{t.Fatal(err)}; return m}
 for name,b:=range map[string]*model.Model{"brc":other("brc","1"),"additive .2":other("additive","0.2")}{
 var ex [2]*metrics.Report
 for i,m:=range []*model.Model{a,b}{ p,_:=m.Bind(te.Schema); sc,_:=p.Scores(te.Cols,te.Rows); ex[i],_=metrics.Evaluate(te.Labels,sc,[]string{"0","1"},te.Schema.Label.Positive)}
 truth:=map[string]float64{"auc_difference":*ex[1].AUC-*ex[0].AUC,"log_loss_difference":ex[1].LogLoss-ex[0].LogLoss,"accuracy_difference":ex[1].Accuracy-ex[0].Accuracy,"log_loss_second":ex[1].LogLoss,"auc_second":*ex[1].AUC}
 for _,eps:=range []dp.Epsilon{dp.Nano/2}{ for _,n:=range []int{50000}{
  pl,err:=evaluation.Params{Epsilon:eps,Models:[]*model.Model{a,b},Threshold:.5}.Plan(te.Schema,n); if err!=nil{t.Fatal(err)}
  cut,_:=pl.Cut(te); tally:=map[string]*Tally{}; D:=100
  for d:=range D{ src:=replay.Seeded(1,fmt.Sprint("pair",eps,n,d)); of:=make([]int,n); for i:=range of{of[i]=int(guard.Below(src,uint64(te.Rows)))}
   tab,_:=memory.New(cut.Subset(of)); r,err:=guard.Train(ctx,pl,tab,guard.Uncounted{},mech.NewExit(src)); if err!=nil{t.Fatal(err)}
   rep,_:=r.Report(nil)
   for k,v:=range truth{ e,_:=rep.Find(k); if tally[k]==nil{tally[k]=&Tally{}}; tally[k].note(e,v,math.Inf(-1),math.Inf(1))}}
  s:=fmt.Sprintf("%s eps %v n %d cells %d:",name,eps,n,len(pl.Cuts())+1); for k,x:=range tally{ s+=fmt.Sprintf(" %s(%.4f) %d/%d b%d hw %.4f bias %+.4f;",k,truth[k],x.Held,D,x.Below,x.HalfWidth/float64(D),x.Bias/float64(D))}
  t.Log(s)
 }}}
}
