//! Scratch.
use accsim::evidence::*;
use accsim::law::*;
use accsim::throughput::*;
use accsim::throughput::sim::*;
use std::path::Path;
fn model(names:&[&str])->Model{
    let mut o=Observer::new(None);
    for n in names{
        let p=format!("tests/data/h200/{n}.log");
        o.begin(&p);
        let mut r=Reader::new(Limits::default());
        r.read(&Input::from(Path::new(&p)),&mut |place,rec| o.record(place,rec));
    }
    calibrate(&o.finish().unwrap(),&Options::default()).unwrap()
}
fn main(){
    for (cal,runs) in [(vec!["var_k5_al351"],vec![("var_k5_al351",3.51,5)]),(vec!["e3k5_al351"],vec![("e3k5_al351",3.51,5),("e3k5_al200",2.0,5)]),(vec!["var_k5_al351"],vec![("e3k5_al351",3.51,5),("e3k5_al200",2.0,5)]),(vec!["e3k5_al351"],vec![("var_k5_al351",3.51,5)]),(vec!["e3k5_al351","e3k3_al299","base"],vec![("e3k3_al299",2.99,3),("base",1.0,0)]),(vec!["e3k5_al351","e3k3_al299"],vec![("var_k5_al351",3.51,5)])]{
        let m=model(&cal);
        println!("=== {cal:?}");
        for l in &m.laws { match &l.outcome { Outcome::Fitted(f)=>println!("k{:?} {:?} {:?} {:?} {:?}",l.draft_lengths,f.step,f.prefill,f.quality,f.merged), o=>println!("{o:?}")}}
        for (run,x,k) in runs {
            let Some(f)=m.law(k).and_then(|l|l.fitted()) else {continue};
            let c=read_client(&std::fs::read(format!("tests/data/h200/{run}.json")).unwrap()).unwrap();
            for p in &c.phases {
                let law=AcceptanceLaw::match_expected(Setting::new(x,k+1).unwrap());
                let mut s=Server::new(f.step.clone(),f.prefill,k,law);
                s.most_running=32;
                let t=Traffic{arrivals:Arrivals::Closed{concurrency:p.concurrency},requests:Requests::Listed(p.trace().into()),duration_s:p.sending_s.unwrap(),warmup_s:0.0};
                let pt=Replicates{count:10,seed:1}.run(&[(s,t)]).unwrap().remove(0);
                let e=p.e2e_s().unwrap(); let q=pt.e2e_s.unwrap();
                println!("{run} c{} tps {:.1} vs {:.1} ({:+.1}%)  mean {:.3} vs {:.3} ({:+.1}%) p90 {:.3} vs {:.3} ({:+.1}%) reqs {} vs {}",p.concurrency,pt.output_tps.mean,p.output_tps(),100.*(pt.output_tps.mean/p.output_tps()-1.),q.mean,e.mean,100.*(q.mean/e.mean-1.),q.p90,e.p90,100.*(q.p90/e.p90-1.),pt.requests/10,p.requests.len());
            }
        }
    }
}
